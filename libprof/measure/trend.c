#include "libprof/measure/trend.h"

#include "libprof/thresholds/thresholds.h"

bool seep_trend_measure(const double *y, size_t n, double dx, struct seep_trend *trend)
{
    int64_t s;

    return !seep_slope_estimate(y, 1, n, dx, &trend->slope) &&
           !seep_trend_test(y, n, &s, &trend->z) && !seep_shape_describe(y, n, &trend->shape);
}

bool seep_trend_grows(const struct seep_trend *trend, double steps, double least_bytes,
                      double least_rising)
{
    const double total = trend->slope.value * steps;

    return trend->slope.low > 0 && trend->z > SEEP_T_TREND_Z && total >= least_bytes &&
           total > SEEP_T_TREND_NOISE * trend->shape.noise &&
           trend->shape.late_share > SEEP_T_TREND_LATE_SHARE &&
           trend->shape.rising >= least_rising * trend->shape.windows;
}
