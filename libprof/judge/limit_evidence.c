#include "libprof/judge/limit_evidence.h"

#include "libprof/base/text.h"
#include "libprof/measure/memory_limit.h"

static bool is_on_host(const struct seep_space_name *space)
{
    return space->host_like || space->class == SEEP_CLASS_SHM;
}

void seep_finding_set_limit(const struct seep_model *m, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT], used[SEEP_SIZE_TEXT];
    const char *kind;

    f->steps_to_limit = -1;
    if (!is_on_host(&m->spaces[f->space].name))
        return;
    f->limit_bytes = seep_memory_limit_of(m, &kind);
    if (f->growth.value <= 0 || f->returns)
        return;
    const struct seep_limit nearest =
        seep_memory_limit_nearest(m, f->growth.value, f->processes, f->n_processes);
    if (!nearest.bytes)
        return;
    f->limit_bytes = nearest.bytes;
    f->steps_to_limit = seep_memory_limit_steps(&nearest);
    seep_finding_note(f, "the limit is %s (%s), in use are %s",
                      seep_text_size((double)nearest.bytes, size), nearest.kind,
                      seep_text_size((double)nearest.used, used));
}
