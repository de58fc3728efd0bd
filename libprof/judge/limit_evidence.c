#include "libprof/judge/finding_list.h"

#include "libprof/base/text.h"
#include "libprof/measure/memory_limit.h"
#include "libprof/words/findings/line_words.h"
#include "libprof/words/limit_kind.h"

static bool is_on_host(const struct seep_space_name *space)
{
    return space->host_like || space->class == SEEP_CLASS_SHM;
}

static bool is_on_device(const struct seep_space_name *space)
{
    return space->class == SEEP_CLASS_DEVICE || space->class == SEEP_CLASS_TENSOR;
}

/* The limit that the growth reaches first; bytes 0: none is known. */
static struct seep_limit nearest_of(const struct seep_model *m, const struct seep_finding *f)
{
    const struct seep_space_name *space = &m->spaces[f->space].name;

    return is_on_device(space)
               ? seep_memory_limit_of_device(m, space->device, f->growth.value)
               : seep_memory_limit_nearest(m, f->growth.value, f->processes, f->n_processes);
}

void seep_finding_set_limit(const struct seep_model *m, struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT], used[SEEP_SIZE_TEXT];
    const char *kind;

    f->steps_to_limit = -1;
    if (is_on_device(&m->spaces[f->space].name))
        f->limit_bytes = seep_memory_limit_of_device(m, m->spaces[f->space].name.device, 0).bytes;
    else if (is_on_host(&m->spaces[f->space].name))
        f->limit_bytes = seep_memory_limit_of(m, &kind);
    else
        return;
    if (f->growth.value <= 0 || f->returns)
        return;
    const struct seep_limit nearest = nearest_of(m, f);
    if (!nearest.bytes)
        return;
    f->limit_bytes = nearest.bytes;
    f->steps_to_limit = seep_memory_limit_steps(&nearest);
    seep_finding_note(f, SEEP_LINE_LIMIT_TEXT, seep_text_size((double)nearest.used, used),
                      seep_text_size((double)nearest.bytes, size), seep_limit_words(nearest.kind));
}
