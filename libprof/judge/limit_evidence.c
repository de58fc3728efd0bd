#include "libprof/judge/finding_list.h"

#include "libprof/base/text.h"
#include "libprof/measure/resident/memory_limit.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/line_words.h"
#include "libprof/words/limit_kind.h"
#include "libprof/words/step_words.h"

bool seep_finding_is_on_host(const struct seep_model *m, const struct seep_finding *f)
{
    const struct seep_space_name *space = &m->spaces[f->space].name;

    return space->host_like || space->class == SEEP_CLASS_SHM;
}

/* The limit that the growth reaches first; bytes 0: none is known. */
static struct seep_limit nearest_of(const struct seep_model *m, const struct seep_finding *f)
{
    return seep_finding_is_on_host(m, f)
               ? seep_memory_limit_nearest(m, f->growth.value, f->processes, f->n_processes)
               : seep_memory_limit_of_space(m, f->space, f->growth.value);
}

/* What seep takes itself, above a fiftieth of what the job does. */
static bool is_notable(const struct seep_limit *limit)
{
    enum { PARTS = 50 };
    return limit->own * PARTS >= limit->used && limit->own;
}

/* Where all of the job's memory grows faster than what the finding accounts for, it reaches the
 * limit. */
static void note_pace(const struct seep_model *m, const struct seep_resident_trend *resident,
                      struct seep_limit *limit, struct seep_finding *f)
{
    const double most = f->growth.value * (1 + 1.0 / SEEP_T_LARGE_SHARE);
    char each[SEEP_SIZE_TEXT];

    if (!seep_finding_is_on_host(m, f) || !resident->grows || resident->slope.value <= most)
        return;
    limit->growth = resident->slope.value;
    seep_finding_note(f, SEEP_LINE_LIMIT_PACE_TEXT, seep_text_size(resident->slope.value, each),
                      seep_step_unit(m->step_source == SEEP_STEP_TIME));
}

void seep_finding_set_limit(const struct seep_model *m, const struct seep_resident_trend *resident,
                            struct seep_finding *f)
{
    char size[SEEP_SIZE_TEXT], used[SEEP_SIZE_TEXT], own[SEEP_SIZE_TEXT];
    const char *kind;

    f->steps_to_limit = -1;
    f->limit_bytes = seep_finding_is_on_host(m, f)
                         ? seep_memory_limit_of(m, &kind)
                         : seep_memory_limit_of_space(m, f->space, 0).bytes;
    if (f->growth.value <= 0 || f->returns)
        return;
    struct seep_limit nearest = nearest_of(m, f);
    if (!nearest.bytes)
        return;
    note_pace(m, resident, &nearest, f);
    f->limit_bytes = nearest.bytes;
    f->steps_to_limit = seep_memory_limit_steps(&nearest);
    seep_text_size((double)nearest.used, used);
    seep_text_size((double)nearest.bytes, size);
    if (is_notable(&nearest))
        seep_finding_note(f, SEEP_LINE_LIMIT_OWN_TEXT, used, size, seep_limit_words(nearest.kind),
                          seep_text_size((double)nearest.own, own));
    else
        seep_finding_note(f, SEEP_LINE_LIMIT_TEXT, used, size, seep_limit_words(nearest.kind));
}
