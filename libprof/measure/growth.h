/* How a group of sites behaves over the steps: the measurements that verdicts are made of. */
#ifndef SEEP_LIBPROF_MEASURE_GROWTH_H
#define SEEP_LIBPROF_MEASURE_GROWTH_H

#include "libprof/base/statistics.h"
#include "libprof/model/live_level.h"

/* The job's step axis as verdicts see it. */
struct seep_span {
    int32_t last;        /* last finished step that the job's end does not reach into */
    int32_t warm;        /* judged are the steps after this one */
    int32_t judge;       /* the same, after the first epoch where that leaves enough steps */
    int32_t epoch_steps; /* of the first epoch, 0 when it did not end or is not known */
    bool epochs_known;   /* the job has epochs */
    bool epoch_passed;   /* … and ran on long enough after the first one */
    double sample_bytes; /* mean gap between samples, 0 where every allocation was recorded */
};

void seep_span_compute(const struct seep_model *m, struct seep_span *span);

struct seep_growth {
    struct seep_slope slope; /* bytes per step over (from, to] */
    struct seep_shape shape; /* of the same */
    double z;                /* Mann–Kendall */
    int32_t from, to;        /* steps of the run that it was measured in */
    bool growing;    /* persistent: clear of zero, of the noise, in most windows, up to the end */
    bool by_process; /* processes came and went, or another run than the main one grows: judged each
                      * by itself, slopes weighted by life */
    bool past_epoch; /* judged past the first epoch, or there are no epochs */
    int32_t plateau; /* step from which on the level stays, 0 none; over (0, to] */
    double plateau_rise;     /* bytes between step 0 and the plateau */
    bool plateau_gradual;    /* it got there bit by bit */
    struct seep_level level; /* the sum */
};

/* Measures sites[0, n) as one. Returns 0 or -SEEP_ENOMEM. Allocates growth->level, which the next
 * call uses again: zero-initialise once, seep_growth_fini() at the end. */
SEEP_MUST_CHECK int seep_growth_measure(const struct seep_model *m, const struct seep_span *span,
                                        const uint32_t *sites, size_t n,
                                        struct seep_growth *growth);
void seep_growth_fini(struct seep_growth *growth);

/* Only the slope of one site over the judged steps; zeros where nothing changed in them. `level` is
 * scratch. */
SEEP_MUST_CHECK int seep_growth_of_site(const struct seep_model *m, const struct seep_span *span,
                                        uint32_t site, struct seep_level *level,
                                        struct seep_slope *slope);

#endif
