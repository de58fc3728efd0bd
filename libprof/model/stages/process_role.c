#include "libprof/model/stages/process_role.h"

#include "libprof/model/stages/step_axis.h"

/* ---- workers --------------------------------------------------------------------------------- */

static bool is_first_thread(const struct seep_model_process *p, const struct seep_model_slot *slot)
{
    return slot->thread && slot->thread <= p->threads.n &&
           p->threads.list[slot->thread - 1].tid == p->id.pid;
}

static void mark_process(struct seep_model *m, const struct seep_model_slot *slot)
{
    struct seep_model_process *p = &m->processes[slot->process];

    p->in_worker_loop |= is_first_thread(p, slot);
}

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
            mark_process(m, &m->slots[k - 1]);
    }
}

/* ---- roles ----------------------------------------------------------------------------------- */

/* A loader makes its workers; the process that trains is nobody's worker, whatever its functions
 * are called. */
static bool is_worker(const struct seep_model *m, size_t i)
{
    const struct seep_model_process *p = &m->processes[i];

    return p->in_worker_loop && !p->steps && i != m->main &&
           (p->parent || (p->entry && p->entry->parent_plus_1));
}

/* The parent that the job's table names, if it has a profile; else NULL. */
static const struct seep_model_process *parent_of(const struct seep_model *m,
                                                  const struct seep_model_process *p)
{
    const uint32_t parent = p->entry ? p->entry->parent_plus_1 : 0;

    if (!parent || parent > p->job->n_processes)
        return NULL;
    for (size_t i = 0; i < m->n_processes; i++)
        if (m->processes[i].entry == &p->job->processes[parent - 1])
            return &m->processes[i];
    return NULL;
}

/* Two processes that a Python program started, and that make steps of the same kind side by side,
 * share a training, whatever started them and whatever their environment says. */
static bool is_peer(const struct seep_model *m, const struct seep_model_process *p,
                    const struct seep_model_process *q)
{
    const struct seep_model_process *parent = parent_of(m, p);

    return p != q && q->steps && parent && parent->id.python_version && parent_of(m, q) == parent &&
           p->run == q->run && p->entry->step_source == q->entry->step_source;
}

/* What repeats in it are not steps of the job, but tasks that it is given. */
static bool serves(const struct seep_model *m, const struct seep_model_process *p)
{
    for (size_t i = 0; p->steps && i < m->n_processes; i++)
        if (seep_step_serves(p, &m->processes[i]))
            return true;
    return false;
}

static bool is_rank(const struct seep_model *m, const struct seep_model_process *p, unsigned n_told)
{
    if (!p->steps || !m->n_runs)
        return false;
    if (p->id.rank >= 0 && n_told >= 2)
        return true;
    for (size_t i = 0; i < m->n_processes; i++)
        if (is_peer(m, p, &m->processes[i]))
            return true;
    return false;
}

void seep_process_roles_find(struct seep_model *m)
{
    unsigned n_told = 0;

    seep_model_begin(m, SEEP_MODEL_ENDED);
    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        if (p->steps && p->id.rank >= 0)
            n_told++;
    }
    for (size_t i = 0; i < m->n_processes; i++) {
        struct seep_model_process *p = &m->processes[i];
        if (is_worker(m, i))
            p->role = SEEP_ROLE_WORKER;
        else if (serves(m, p))
            p->role = SEEP_ROLE_HELPER;
        else if (is_rank(m, p, n_told))
            p->role = SEEP_ROLE_RANK;
        else if (p->steps || i == m->main)
            p->role = SEEP_ROLE_TRAINER;
        else
            p->role = SEEP_ROLE_HELPER;
    }
}
