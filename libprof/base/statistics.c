#include "libprof/base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PAIRS = SEEP_STATISTICS_MAX * (SEEP_STATISTICS_MAX - 1) / 2, WINDOWS = 8 };

static bool in_range(size_t n)
{
    return n >= SEEP_STATISTICS_MIN && n <= SEEP_STATISTICS_MAX;
}

static void swap(double *a, double *b)
{
    double t = *a;

    *a = *b;
    *b = t;
}

/* Puts the k-th smallest at v[k] (Hoare's quickselect; median of three, so sorted input is not
 * slow). */
static double select_kth(double *v, size_t n, size_t k)
{
    size_t left = 0, right = n - 1;

    while (left < right) {
        size_t middle = left + (right - left) / 2;
        if (v[middle] < v[left])
            swap(&v[middle], &v[left]);
        if (v[right] < v[left])
            swap(&v[right], &v[left]);
        if (v[right] < v[middle])
            swap(&v[right], &v[middle]);
        double pivot = v[middle];
        size_t i = left, j = right;
        while (i <= j) {
            while (v[i] < pivot)
                i++;
            while (pivot < v[j])
                j--;
            if (i <= j) {
                swap(&v[i++], &v[j]);
                if (j == 0)
                    break;
                j--;
            }
        }
        if (k <= j)
            right = j;
        else if (k >= i)
            left = i;
        else
            break;
    }
    return v[k];
}

double seep_median(double *values, size_t n)
{
    double upper = select_kth(values, n, n / 2);

    if (n % 2)
        return upper;
    /* select_kth leaves everything below n/2 not above it */
    double lower = values[0];
    for (size_t i = 1; i < n / 2; i++) {
        if (values[i] > lower)
            lower = values[i];
    }
    return lower + (upper - lower) / 2;
}

static int compare(const void *a, const void *b)
{
    const double *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

/* Variance of Kendall's S without a trend, corrected for groups of equal values. */
static double variance_of_s(const double *y, size_t n)
{
    double sorted[SEEP_STATISTICS_MAX];
    double k = (double)n;
    double sum = k * (k - 1) * (2 * k + 5);

    memcpy(sorted, y, n * sizeof *y);
    qsort(sorted, n, sizeof *sorted, compare);
    for (size_t i = 0; i < n;) {
        size_t j = i;
        while (j < n && !(sorted[j] > sorted[i]))
            j++;
        double t = (double)(j - i);
        sum -= t * (t - 1) * (2 * t + 5);
        i = j > i ? j : i + 1;
    }
    return sum / 18;
}

static void estimate(const double *y, size_t n, double dx, struct seep_slope *out)
{
    double slopes[MAX_PAIRS];
    size_t pairs = 0;

    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            slopes[pairs++] = (y[j] - y[i]) / ((double)(j - i) * dx);
    }
    double half = 1.959964 * sqrt(variance_of_s(y, n));
    double low = floor(((double)pairs - half) / 2);
    double high = ceil(((double)pairs + half) / 2);
    size_t low_at = low < 1 ? 0 : (size_t)low - 1; /* the low-th from below, counted from 1 */
    size_t high_at = high >= (double)pairs ? pairs - 1 : (size_t)high;
    out->value = seep_median(slopes, pairs);
    out->low = select_kth(slopes, pairs, low_at);
    out->high = select_kth(slopes, pairs, high_at);
}

int seep_slope_estimate(const double *y, size_t n_series, size_t n, double dx,
                        struct seep_slope *out)
{
    if (n_series == 0)
        return 0;
    if (!in_range(n) || !(dx > 0))
        return -SEEP_EINVAL;
    for (size_t i = 0; i < n_series; i++)
        estimate(y + i * n, n, dx, &out[i]);
    return 0;
}

int seep_trend_test(const double *y, size_t n, int64_t *s, double *z)
{
    int64_t sum = 0;

    if (!in_range(n))
        return -SEEP_EINVAL;
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++)
            sum += (y[j] > y[i]) - (y[j] < y[i]);
    }
    double variance = variance_of_s(y, n);
    *s = sum;
    *z = 0;
    if (variance > 0 && sum)
        *z = ((double)sum + (sum > 0 ? -1.0 : 1.0)) / sqrt(variance);
    return 0;
}

static double noise_of(const double *y, size_t n)
{
    double d[SEEP_STATISTICS_MAX], centre;

    for (size_t i = 0; i + 1 < n; i++)
        d[i] = y[i + 1] - y[i];
    centre = seep_median(d, n - 1);
    for (size_t i = 0; i + 1 < n; i++)
        d[i] = fabs(y[i + 1] - y[i] - centre);
    return seep_median(d, n - 1);
}

static double window_median(const double *y, size_t from, size_t to)
{
    double v[SEEP_STATISTICS_MAX];

    memcpy(v, y + from, (to - from) * sizeof *v);
    return seep_median(v, to - from);
}

/* The first index from which every point stays near the final level. Up to two outliers are
 * allowed: batches in flight come and go. */
static size_t find_plateau(const double *y, size_t n, double final, double tolerance)
{
    size_t at = n, astray = 0;

    while (at > 0) {
        if (fabs(y[at - 1] - final) > tolerance && ++astray > 2)
            break;
        at--;
    }
    while (at < n && fabs(y[at] - final) > tolerance)
        at++;
    return at > 0 && (double)at < 0.85 * (double)n ? at : 0;
}

/* Memory released in bursts (by a cyclic collector) rises and falls: that is no slope. */
static double deepest_fall(const double *y, size_t n)
{
    double low = y[0], most = y[0], deepest = 0;

    for (size_t i = 1; i < n; i++) {
        low = fmin(low, y[i]);
        most = fmax(most, y[i]);
        deepest = fmax(deepest, most - y[i]);
    }
    return most > low ? deepest / (most - low) : 0;
}

int seep_shape_describe(const double *y, size_t n, struct seep_shape *out)
{
    double medians[WINDOWS];
    size_t windows = n - 1 < 2 * WINDOWS ? (n - 1) / 2 : WINDOWS;

    if (!in_range(n))
        return -SEEP_EINVAL;
    *out = (struct seep_shape){.windows = (unsigned)windows, .noise = noise_of(y, n)};
    for (size_t w = 0; w < windows; w++)
        medians[w] = window_median(y, 1 + w * (n - 1) / windows, 1 + (w + 1) * (n - 1) / windows);
    double before = y[0];
    for (size_t w = 0; w < windows; w++) {
        out->rising += medians[w] > before + out->noise;
        out->falling += medians[w] < before - out->noise;
        before = medians[w];
    }
    double final = medians[windows - 1];
    /* A long series uses as many points as its noise requires. */
    size_t few = n / 24 > 1 ? n / 24 : 1;
    double third = window_median(y, n * 2 / 3 - few, n * 2 / 3 + few);
    double end = window_median(y, n - 2 * few, n);
    out->rise = final - y[0];
    out->fall = deepest_fall(y, n);
    out->late_share = out->rise > 0 ? (end - third) / out->rise : 0;
    double tolerance = 0.03 * fabs(out->rise) + 3 * out->noise;
    if (tolerance < 0.25 * fabs(out->rise))
        out->plateau_at = find_plateau(y, n, final, tolerance);
    return 0;
}
