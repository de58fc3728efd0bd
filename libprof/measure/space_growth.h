/* How whole spaces grow, in the job and in each process: budgets are compared with this. */
#ifndef SEEP_LIBPROF_MEASURE_SPACE_GROWTH_H
#define SEEP_LIBPROF_MEASURE_SPACE_GROWTH_H

#include "libprof/measure/growth.h"

/* Steps after the warm-up needed to measure growth. */
enum { SEEP_GROWTH_MIN_STEPS = 10 };

struct seep_lane_growth {
    bool touched;            /* some site is in the space */
    bool known;              /* enough steps were judged */
    struct seep_slope slope; /* bytes per step; the interval includes the error of sampling */
    double retained_bytes;   /* at the end of the last judged step */
};

struct seep_space_growths {
    size_t n_spaces;
    struct seep_lane_growth *of_space;   /* [n_spaces] */
    struct seep_lane_growth *of_process; /* [n_processes][n_spaces] row-major */
};

/* Measures all sites of each space as one, over the steps that findings are judged by. If processes
 * came and went in a space, its growth is theirs, weighted by their lives (as for groups of sites:
 * growth.h); otherwise it is the slope of the sum. A process whose profile had no room for all
 * stacks counts by its timeline, which is complete. One pass over the model's points. Returns 0 or
 * -SEEP_ENOMEM. Allocates: *out; free with seep_space_growths_fini(). */
SEEP_MUST_CHECK int seep_space_growths_measure(const struct seep_model *m,
                                               const struct seep_span *span,
                                               struct seep_space_growths *out);
void seep_space_growths_fini(struct seep_space_growths *growths);

/* What a site retains: its lowest level over the ends of the last steps (at most ten, a quarter of
 * the judged ones), so that what one batch uses and frees does not count. Pure. */
uint64_t seep_retained_of_site(const struct seep_model *m, const struct seep_span *span,
                               uint32_t site);

#endif
