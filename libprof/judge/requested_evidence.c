#include "libprof/base/text.h"
#include "libprof/judge/finding_list.h"
#include "libprof/model/live_level.h"
#include "libprof/thresholds/thresholds.h"
#include "libprof/words/findings/growth_words.h"
#include "libprof/words/step_words.h"

#include <math.h>

/* `times`: how much was requested, as a share of what is resident. */
static void note_requested(const struct seep_model *m, double times, struct seep_finding *f)
{
    char all[SEEP_SIZE_TEXT], each[SEEP_SIZE_TEXT];

    seep_finding_note(f, times < 1 ? SEEP_CHUNKS_TEXT : SEEP_UNTOUCHED_TEXT);
    seep_text_size(times * (double)f->live_bytes, all);
    if (f->growth.value > 0)
        seep_finding_note(f, SEEP_REQUESTED_GROWS_TEXT, all,
                          seep_text_size(times * f->growth.value, each),
                          seep_step_unit(m->step_source == SEEP_STEP_TIME));
    else
        seep_finding_note(f, SEEP_REQUESTED_TEXT, all);
}

int seep_finding_set_peak(const struct seep_model *m, struct seep_finding *f)
{
    struct seep_level level = {0};
    int rc = seep_level_sum(m, f->sites, f->n_sites, SEEP_LEVEL_ALL, &level);
    const double requested = (double)seep_level_highest(&level).bytes;

    if (!rc)
        rc = seep_level_resident(m, f->sites, f->n_sites, SEEP_LEVEL_ALL, &level);
    const double resident = (double)seep_level_highest(&level).bytes;
    seep_level_fini(&level);
    f->peak_bytes = (uint64_t)resident > f->live_bytes ? (uint64_t)resident : f->live_bytes;
    if (fmax(requested, resident) >= (1 + 1.0 / SEEP_T_LARGE_SHARE) * fmin(requested, resident) &&
        f->live_bytes >= SEEP_T_PEAK_BYTES)
        note_requested(m, requested / resident, f);
    return rc;
}
