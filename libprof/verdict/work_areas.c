#include "libprof/verdict/work_areas.h"

#include "libprof/base/text.h"

#include <string.h>

/* Slots of one process are adjacent. */
uint32_t seep_site_processes(const struct seep_model *m, const struct seep_model_site *site)
{
    uint32_t n = 0, last = UINT32_MAX;

    for (uint32_t k = site->slots; k; k = m->slots[k - 1].next) {
        n += m->slots[k - 1].process != last;
        last = m->slots[k - 1].process;
    }
    return n;
}

bool seep_is_work_area(const struct seep_model *m, uint32_t site)
{
    const struct seep_model_site *s = &m->sites[site];

    return m->spaces[s->space].name.class == SEEP_CLASS_MMAP &&
           s->totals.allocations <= seep_site_processes(m, s);
}

bool seep_is_frame_of_python(const struct seep_dictionary *d, uint32_t frame)
{
    const struct seep_dict_frame *f = &d->frames[frame];

    if (f->kind == SEEP_FRAME_PYTHON || f->pseudo || !f->source)
        return true;
    const char *file = seep_text_base(seep_dictionary_text(d, d->modules[f->source].path));
    return strncmp(file, "python", 6) == 0 || strncmp(file, "libpython", 9) == 0;
}

bool seep_is_arena(const struct seep_model *m, uint32_t site)
{
    const struct seep_model_site *s = &m->sites[site];
    const struct seep_totals *t = &s->totals;

    if (m->spaces[s->space].name.class != SEEP_CLASS_MMAP || !t->allocations || !s->slots ||
        !seep_is_frame_of_python(&m->dict, m->dict.stacks[s->stack].frame))
        return false;
    const uint64_t arena = m->processes[m->slots[s->slots - 1].process].id.arena_bytes;
    return arena && t->allocated_bytes == arena * t->allocations;
}
