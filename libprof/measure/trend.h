/* Defines "it grows" in one place: a slope that is clear of zero, of chance and of the noise, in
 * most windows, up to the end. */
#ifndef SEEP_LIBPROF_MEASURE_TREND_H
#define SEEP_LIBPROF_MEASURE_TREND_H

#include "libprof/base/statistics.h"

#include <stdbool.h>

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
