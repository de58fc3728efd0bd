/* How whole spaces grow, of the job and of each process: what budgets are held against. */
#ifndef SEEP_LIBPROF_MEASURE_SPACE_GROWTH_H
#define SEEP_LIBPROF_MEASURE_SPACE_GROWTH_H

#include "libprof/measure/growth.h"

/* Steps after the warm-up that a growth needs to be told. */
enum { SEEP_GROWTH_MIN_STEPS = 10 };

struct seep_lane_growth {
    bool touched;            /* some site of the space is in it */
    bool known;              /* enough steps were judged */
    struct seep_slope slope; /* bytes per step; the interval includes the error of --sample */
    double retained_bytes;   /* at the end of the last judged step */
};

struct seep_space_growths {
    size_t n_spaces;
    struct seep_lane_growth *of_space;   /* [n_spaces] */
    struct seep_lane_growth *of_process; /* [n_processes][n_spaces] row-major */
};

/* Measures all sites of each space as one, over the steps that findings are judged by. A space in
 * which processes came and went grows by what they grow by, weighted by their lives (as groups of
 * sites do: growth.h); every other by the slope of its sum. One pass over the model's points.
 * Returns 0 or -SEEP_ENOMEM. Allocates: *out; free with seep_space_growths_fini(). */
SEEP_MUST_CHECK int seep_space_growths_measure(const struct seep_model *m,
                                               const struct seep_span *span,
                                               struct seep_space_growths *out);
void seep_space_growths_fini(struct seep_space_growths *growths);

/* What a site holds on to: its least level over the ends of the last steps (at most ten, a quarter
 * of the judged ones), so that what one batch uses and gives back does not count. Pure. */
uint64_t seep_retained_of_site(const struct seep_model *m, const struct seep_span *span,
                               uint32_t site);

#endif
