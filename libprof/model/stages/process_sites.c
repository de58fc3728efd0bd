/* Sites that other records of a profile name. */
#include "libprof/model/model.h"
#include "libprof/model/stack_import.h"
#include "libprof/model/stages/process_import.h"

uint32_t seep_process_site(struct seep_model *m, struct seep_resolver *resolver,
                           const struct seep_model_process *p, uint32_t index)
{
    struct seep_profile *found_in = NULL;
    const struct seep_site *site =
        index <= UINT32_MAX / 8
            ? seep_profile_at(p->profile, index * 8, SEEP_CHUNK_SITES, sizeof *site, &found_in)
            : NULL;
    uint16_t space;

    if (!site || site->space >= SEEP_MAX_SPACES ||
        !seep_model_add_space(m, found_in->header->spaces[site->space].name, &space))
        return 0;
    const uint32_t stack = seep_resolve_stack(resolver, p->profile, site->stack);
    const uint32_t found = seep_model_find_site(m, stack, space);
    return found == SEEP_HASH_NONE ? 0 : found + 1;
}

void seep_process_import_written(struct seep_model *m, struct seep_resolver *resolver,
                                 uint32_t process)
{
    struct seep_model_process *p = &m->processes[process];
    const struct seep_rss_sample *most = NULL;

    for (uint32_t i = 0; i < p->samples.n; i++) {
        const struct seep_rss_sample *its = &p->samples.list[i];
        if (its->written_bytes && (!most || its->written_bytes > most->written_bytes))
            most = its;
    }
    if (most)
        p->written_site_plus_1 = seep_process_site(m, resolver, p, most->written_site);
}
