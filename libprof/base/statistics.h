/* Robust statistics of levels: is it growing, by how much a step, and did it stop.
 *
 * Slope: Theil–Sen, the median of the slopes of all pairs (Sen 1968, "Estimates of the regression
 * coefficient based on Kendall's tau", JASA 63:1379); its interval: the order statistics of those
 * slopes that the variance of Kendall's S gives (Sen 1968, eq. 2.6, with the correction for ties).
 * Trend: Mann–Kendall's S and its normal score (Mann 1945; Kendall 1975).
 * Both take the points as independent: of a wandering level (a random walk) they call 5–8 % a
 * trend. All take equally spaced points and are pure. n ≤ SEEP_STATISTICS_MAX: work grows with n².
 */
#ifndef SEEP_LIBPROF_BASE_STATISTICS_H
#define SEEP_LIBPROF_BASE_STATISTICS_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEEP_STATISTICS_MIN = 4, SEEP_STATISTICS_MAX = 128 };

struct seep_slope {
    double value;     /* units of y per unit of x */
    double low, high; /* 95 % interval; low ≤ value ≤ high */
};

/* Slopes of n_series series at once.
 *   y [n_series][n] row-major, any finite values
 *   dx distance of neighbouring points, > 0
 *   out [n_series]
 * Returns 0; -SEEP_EINVAL if n is not in [SEEP_STATISTICS_MIN, SEEP_STATISTICS_MAX] or dx ≤ 0.
 * n_series == 0 is a no-op. Threads: safe on distinct outputs. Allocates: nothing (64 KiB of
 * stack). */
SEEP_MUST_CHECK int seep_slope_estimate(const double *y, size_t n_series, size_t n, double dx,
                                        struct seep_slope *out);

/* Mann–Kendall: *s = concordant − discordant pairs, in [−n(n−1)/2, n(n−1)/2]; *z its normal score
 * with continuity and tie correction, 0 for a constant series. Errors as above. Allocates nothing.
 */
SEEP_MUST_CHECK int seep_trend_test(const double *y, size_t n, int64_t *s, double *z);

/* What a series does over its range, in windows.
 *   y [n], noise-free units; the first point is the state before the range
 * `rising` counts windows whose median exceeds that of the one before by more than the noise;
 * `falling` likewise. `noise` is the median absolute difference of neighbours around their own
 * median. `plateau_at`: the first index from which all points but two stay within three times the
 * noise and 3 % of the series' rise of the final level, 0 when there is none in the first 85 % of
 * the range. Errors as above. Allocates: nothing. */
struct seep_shape {
    unsigned windows, rising, falling;
    double noise;
    double rise;       /* last window's median − first point */
    double late_share; /* of the rise, that which came in the last third */
    double fall; /* deepest fall below an earlier point, as a share of the whole range of values */
    size_t plateau_at;
};
SEEP_MUST_CHECK int seep_shape_describe(const double *y, size_t n, struct seep_shape *out);

/* Median of n ≥ 1 values, which it reorders. */
double seep_median(double *values, size_t n);

#endif
