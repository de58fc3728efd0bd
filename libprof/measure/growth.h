/* How a group of sites behaves over the steps: the measurements behind verdicts. */
#ifndef SEEP_LIBPROF_MEASURE_GROWTH_H
#define SEEP_LIBPROF_MEASURE_GROWTH_H

#include <stdbool.h>

#include "libprof/base/statistics.h"
#include "libprof/measure/span.h"
#include "libprof/model/live_level.h"

struct seep_growth {
    struct seep_slope slope; /* bytes per step over (from, to] */
    struct seep_shape shape; /* of the same */
    double z;                /* Mann–Kendall */
    int32_t from, to;        /* steps of the run that were measured */
    bool growing;      /* persistent: clear of zero, of the noise, in most windows, up to the end */
    bool by_process;   /* processes came and went, or a run other than the main one grows: each is
                        * judged by itself, slopes weighted by life */
    bool past_epoch;   /* judged past the first epoch, or there are no epochs */
    unsigned epochs;   /* number of epochs, each of which left about as much behind; 0: they differ,
                        * or are few */
    int32_t began;     /* step by which part of the growth had already come */
    int32_t began_end; /* last step of the epoch that `began` is in; 0: it did not end, or there
                        * are no epochs */
    bool began_late;   /* … which is not the first one */
    bool after_training;     /* it began after a training was over */
    int32_t plateau;         /* step from which on the level stays, 0 none; over (0, to] */
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

/* Only one site's slope over the judged steps; zeros if nothing changed in them. `level` is
 * scratch. */
SEEP_MUST_CHECK int seep_growth_of_site(const struct seep_model *m, const struct seep_span *span,
                                        uint32_t site, struct seep_level *level,
                                        struct seep_slope *slope);

/* Defines "it grows" in one place: a slope that is clear of zero, of chance and of the noise, in
 * most windows, up to the end. */

struct seep_trend {
    struct seep_slope slope; /* bytes per step */
    struct seep_shape shape;
    double z; /* Mann–Kendall */
};

/* Of n points, dx steps apart. False if they are too few to say anything. Pure. */
bool seep_trend_measure(const double *y, size_t n, double dx, struct seep_trend *trend);

/* Whether it grows by at least least_bytes over `steps`, in at least this share of windows. */
bool seep_trend_grows(const struct seep_trend *trend, double steps, double least_bytes,
                      double least_rising);

#endif
