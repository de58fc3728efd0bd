#include "libprof/model/model.h"
#include "libprof/model/stack_import.h"
#include "libprof/model/stages/process_import.h"

/* A device's say nothing without what it had reserved in fact, which comes first. */
int seep_process_import_what_ifs(struct seep_model *m, struct seep_resolver *resolver,
                                 uint32_t process)
{
    struct seep_profile *profile = m->processes[process].profile;
    uint32_t device = SEEP_MAX_DEVICES;

    for (size_t i = 0; i < SEEP_MAX_WHAT_IFS; i++) {
        const struct seep_what_if *its = &profile->header->what_ifs[i];
        if (its->change == SEEP_WHAT_IF_NOTHING && its->peak_bytes)
            device = its->device;
        if (!its->peak_bytes || its->device != device || device >= SEEP_MAX_DEVICES ||
            its->change >= SEEP_N_WHAT_IFS)
            continue;
        const struct seep_model_what_if one = {
            .process = process,
            .frame = its->frame ? seep_resolve_frame(resolver, profile, its->frame) : 0,
            .its = *its,
        };
        const bool has_line = m->dict.frames[one.frame].kind == SEEP_FRAME_PYTHON;
        if (has_line != (its->change == SEEP_WHAT_IF_KEPT))
            continue;
        if (seep_grow(&m->what_ifs, &m->what_ifs_capacity, m->n_what_ifs + 1, sizeof one))
            return -SEEP_ENOMEM;
        m->what_ifs[m->n_what_ifs++] = one;
    }
    return 0;
}
