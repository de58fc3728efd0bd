#include "libprof/model/worker_loops.h"

void seep_worker_loops_mark(struct seep_model *m, const bool *is_loop)
{
    seep_model_begin(m, SEEP_MODEL_MARKED);
    /* Parents come before what they call. */
    for (size_t i = 1; i < m->dict.n_stacks; i++) {
        struct seep_dict_stack *s = &m->dict.stacks[i];
        s->in_worker_loop = m->dict.stacks[s->parent].in_worker_loop || is_loop[s->frame];
    }
    for (size_t i = 0; i < m->n_sites; i++) {
        if (!seep_dictionary_in_worker_loop(&m->dict, m->sites[i].stack))
            continue;
        for (uint32_t k = m->sites[i].slots; k; k = m->slots[k - 1].next)
            m->processes[m->slots[k - 1].process].in_worker_loop |= m->slots[k - 1].first_thread;
    }
}
