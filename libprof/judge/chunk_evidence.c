#include "libprof/base/text.h"
#include "libprof/judge/finding_list.h"
#include "libprof/measure/resident/heap_headers.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/growth_words.h"
#include "libprof/words/step_words.h"

/* Whether glibc's malloc made all of it. */
static bool is_of_malloc(const struct seep_model *m, const struct seep_finding *f)
{
    if (m->spaces[f->space].name.class != SEEP_CLASS_HOST || f->of_arenas || !f->count)
        return false;
    for (size_t i = 0; i < f->n_processes; i++)
        if (*m->processes[f->processes[i]].id.allocator)
            return false;
    return true;
}

void seep_finding_note_chunks(const struct seep_model *m, struct seep_finding *f)
{
    const uint64_t mean = is_of_malloc(m, f) ? f->live_bytes / f->count : 0;
    const double times = mean ? (double)seep_chunk_bytes(mean) / (double)mean : 0;
    char all[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];

    if (times < 1 + 1.0 / SEEP_T_LARGE_SHARE || f->live_bytes < SEEP_T_PEAK_BYTES)
        return;
    seep_text_size(times * (double)f->live_bytes, all);
    if (f->growth.value > 0)
        seep_finding_note(f, SEEP_CHUNKS_GROW_TEXT, all,
                          seep_text_size(times * f->growth.value, each),
                          seep_step_unit(m->step_source == SEEP_STEP_TIME));
    else
        seep_finding_note(f, SEEP_CHUNKS_TEXT, all);
}
