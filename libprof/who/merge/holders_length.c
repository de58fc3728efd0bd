#include "libprof/who/merge/holders_length.h"

#include "libprof/thresholds/thresholds.h"

#include <math.h>
#include <stdlib.h>

struct series {
    double x[SEEP_STATISTICS_MAX], y[SEEP_STATISTICS_MAX];
    size_t n;
};

/* The length at a step between two snapshots, interpolated. */
static double length_at(const struct series *s, double x)
{
    size_t i = 1;

    while (i + 1 < s->n && s->x[i] < x)
        i++;
    return s->y[i - 1] + (s->y[i] - s->y[i - 1]) * (x - s->x[i - 1]) / (s->x[i] - s->x[i - 1]);
}

/* The share of the whole rise that came in the last third of the steps. */
static double late_share(const struct series *s)
{
    double first = s->x[0], last = s->x[s->n - 1], rise = s->y[s->n - 1] - s->y[0];

    return rise > 0 ? (s->y[s->n - 1] - length_at(s, last - (last - first) / 3)) / rise : 0;
}

/* The deepest fall below an earlier point, as a share of the range. */
static double deepest_fall(const struct series *s)
{
    double low = s->y[0], high = s->y[0], fall = 0;

    for (size_t i = 1; i < s->n; i++) {
        fall = fmax(fall, high - s->y[i]);
        high = fmax(high, s->y[i]);
        low = fmin(low, s->y[i]);
    }
    return high > low ? fall / (high - low) : 0;
}

static int by_value(const void *a, const void *b)
{
    double p = *(const double *)a, q = *(const double *)b;

    return (p > q) - (p < q);
}

/* Theil-Sen slope of points at any distance (statistics.h takes evenly spaced ones). Its 95 %
 * interval: the order statistics given by the variance of Kendall's S. */
static struct seep_slope slope_of(const struct series *s)
{
    static const double normal_95 = 1.959964;
    enum { PAIRS = SEEP_STATISTICS_MAX * (SEEP_STATISTICS_MAX - 1) / 2 };
    double slopes[PAIRS], n = (double)s->n;
    size_t k = 0;

    for (size_t i = 0; i < s->n; i++) {
        for (size_t j = i + 1; j < s->n; j++)
            slopes[k++] = (s->y[j] - s->y[i]) / (s->x[j] - s->x[i]);
    }
    qsort(slopes, k, sizeof *slopes, by_value);
    double width = normal_95 * sqrt(n * (n - 1) * (2 * n + 5) / 18);
    double rank = floor(((double)k - width) / 2);
    size_t at = rank > 0 ? (size_t)rank : 0;
    double middle = k % 2 ? slopes[k / 2] : (slopes[k / 2 - 1] + slopes[k / 2]) / 2;
    return (struct seep_slope){middle, slopes[at], slopes[k - 1 - at]};
}

struct seep_holders_pace seep_holders_pace_of(const struct seep_holders_length *points, size_t n)
{
    struct seep_holders_pace pace = {0};
    struct series s = {.n = n < SEEP_STATISTICS_MAX ? n : SEEP_STATISTICS_MAX};
    int64_t rank;
    double z;

    for (size_t i = 0; i < s.n; i++) {
        size_t at = s.n == n ? i : i * (n - 1) / (s.n - 1);
        s.x[i] = points[at].step;
        s.y[i] = (double)points[at].length;
    }
    if (s.n < SEEP_STATISTICS_MIN || seep_trend_test(s.y, s.n, &rank, &z))
        return pace;
    pace.known = true;
    pace.slope = slope_of(&s);
    /* The interval tests only the order: with four points, the fewest allowed, all must rise. */
    pace.grows = pace.slope.low > 0 && late_share(&s) > SEEP_T_TREND_LATE_SHARE &&
                 deepest_fall(&s) < SEEP_T_TREND_FALL;
    return pace;
}
