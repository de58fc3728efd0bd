#include "libprof/signs/work_areas.h"

/* Those of one process stand together. */
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
