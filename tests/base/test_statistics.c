/* The robust statistics, compared with values worked out by hand, and with data made to mislead
 * them. */
#include "libprof/base/statistics.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>

static uint64_t seed = 1;

/* Deterministic noise in [−0.5, 0.5). */
static double noise(void)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(seed >> 40) / (double)(1 << 24) - 0.5;
}

static struct seep_slope slope_of(const double *y, size_t n, double dx)
{
    struct seep_slope slope;

    ck_assert_int_eq(seep_slope_estimate(y, 1, n, dx, &slope), 0);
    return slope;
}

static struct seep_shape shape_of(const double *y, size_t n)
{
    struct seep_shape shape;

    ck_assert_int_eq(seep_shape_describe(y, n, &shape), 0);
    return shape;
}

TEST(medians_of_odd_and_even_counts)
{
    double odd[] = {5, 1, 4, 2, 3}, even[] = {4, 1, 3, 2}, one[] = {7}, same[] = {2, 2, 2, 2};

    ck_assert_double_eq(seep_median(odd, 5), 3);
    ck_assert_double_eq(seep_median(even, 4), 2.5);
    ck_assert_double_eq(seep_median(one, 1), 7);
    ck_assert_double_eq(seep_median(same, 4), 2);
}

TEST(medians_equal_those_of_sorting, .to = 60)
{
    double v[SEEP_STATISTICS_MAX], sorted[SEEP_STATISTICS_MAX];
    size_t n = 1 + (size_t)_i;

    for (size_t i = 0; i < n; i++)
        v[i] = sorted[i] = floor(noise() * 20);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = i + 1; j < n; j++) {
            if (sorted[j] < sorted[i]) {
                double t = sorted[i];
                sorted[i] = sorted[j];
                sorted[j] = t;
            }
        }
    }
    double expected = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    ck_assert_double_eq(seep_median(v, n), expected);
}

TEST(a_straight_line_has_its_slope_and_no_doubt)
{
    double y[50];

    for (int i = 0; i < 50; i++)
        y[i] = 1e9 + 4096.0 * 2.5 * i;
    struct seep_slope s = slope_of(y, 50, 2.5);
    ck_assert_double_eq_tol(s.value, 4096, 1e-6);
    ck_assert_double_eq_tol(s.low, 4096, 1e-6);
    ck_assert_double_eq_tol(s.high, 4096, 1e-6);
}

/* Slopes of y = {0, 1, 5, 4, 7}, sorted: -1, 1, 1, 4/3, 1.5, 1.75, 2, 2.5, 3, 4. Var S = 5*4*15/18,
 * so C = 1.96 * 4.08 = 8.0: the interval reaches from (10 - C)/2 to (10 + C)/2 of 10: all. */
TEST(sens_interval_by_hand)
{
    const double y[] = {0, 1, 5, 4, 7};
    struct seep_slope s = slope_of(y, 5, 1);

    ck_assert_double_eq_tol(s.value, 1.625, 1e-12);
    ck_assert_double_eq(s.low, -1.0);
    ck_assert_double_eq(s.high, 4.0);
}

TEST(a_quarter_of_wild_points_does_not_move_the_slope)
{
    double y[100];

    for (int i = 0; i < 100; i++)
        y[i] = 100.0 * i + (i % 4 == 1 ? 1e7 * (noise() + 0.5) : 0);
    struct seep_slope s = slope_of(y, 100, 1);
    ck_assert_msg(s.value > 80 && s.value < 200, "slope %g", s.value);
}

/* 95 % intervals of a flat series with noise hold 0 about 19 times of 20. */
TEST(intervals_hold_the_truth_as_often_as_they_say)
{
    int held = 0;

    for (int k = 0; k < 400; k++) {
        double y[40];
        for (int i = 0; i < 40; i++)
            y[i] = 3.0 * i + 50 * noise();
        struct seep_slope s = slope_of(y, 40, 1);
        held += s.low <= 3 && 3 <= s.high;
    }
    ck_assert_msg(held >= 368 && held <= 397, "%d of 400", held);
}

TEST(slopes_of_many_series_are_those_of_each)
{
    double y[3][20];
    struct seep_slope s[3];

    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < 20; i++)
            y[k][i] = (k - 1) * 10.0 * i;
    }
    ck_assert_int_eq(seep_slope_estimate(&y[0][0], 3, 20, 1, s), 0);
    ck_assert_double_eq(s[0].value, -10);
    ck_assert_double_eq(s[1].value, 0);
    ck_assert_double_eq(s[2].value, 10);
    ck_assert_int_eq(seep_slope_estimate(NULL, 0, 20, 1, NULL), 0);
}

TEST(ranges_that_say_nothing_are_refused)
{
    double y[SEEP_STATISTICS_MAX + 1] = {0}, z;
    struct seep_slope s;
    struct seep_shape shape;
    int64_t sum;

    ck_assert_int_eq(seep_slope_estimate(y, 1, SEEP_STATISTICS_MIN - 1, 1, &s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_slope_estimate(y, 1, SEEP_STATISTICS_MAX + 1, 1, &s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_slope_estimate(y, 1, 20, 0, &s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_slope_estimate(y, 1, 20, NAN, &s), -SEEP_EINVAL);
    ck_assert_int_eq(seep_trend_test(y, 2, &sum, &z), -SEEP_EINVAL);
    ck_assert_int_eq(seep_shape_describe(y, 3, &shape), -SEEP_EINVAL);
}

/* n = 10, strictly rising: S = 45, Var = 10·9·25/18 = 125, z = 44/√125. */
TEST(mann_kendall_by_hand)
{
    double y[10], z;
    int64_t s;

    for (int i = 0; i < 10; i++)
        y[i] = i * i;
    ck_assert_int_eq(seep_trend_test(y, 10, &s, &z), 0);
    ck_assert_int_eq(s, 45);
    ck_assert_double_eq_tol(z, 44 / sqrt(125), 1e-9);
    /* ties: {1, 2, 2, 3}: S = 5, Var = (4·3·13 − 2·1·9)/18 = 7.667 */
    const double tied[] = {1, 2, 2, 3};
    ck_assert_int_eq(seep_trend_test(tied, 4, &s, &z), 0);
    ck_assert_int_eq(s, 5);
    ck_assert_double_eq_tol(z, 4 / sqrt(138.0 / 18), 1e-9);
    const double flat[] = {6, 6, 6, 6, 6};
    ck_assert_int_eq(seep_trend_test(flat, 5, &s, &z), 0);
    ck_assert_int_eq(s, 0);
    ck_assert_double_eq(z, 0);
}

TEST(a_leak_rises_in_every_window)
{
    double y[100];

    for (int i = 0; i < 100; i++)
        y[i] = 1000 * i + 500 * noise();
    struct seep_shape s = shape_of(y, 100);
    ck_assert_uint_eq(s.rising, s.windows);
    ck_assert_uint_eq(s.falling, 0);
    ck_assert_uint_eq(s.plateau_at, 0);
    ck_assert(s.late_share > 0.25 && s.late_share < 0.4);
    ck_assert(s.fall < 0.05);
}

/* An allocator's reserve: it wavers, and has just fallen when the job ends. */
TEST(a_dip_at_the_end_does_not_hide_a_climb)
{
    double y[96];

    for (int i = 0; i < 96; i++)
        y[i] = 1000 * i + (i % 5 == 0 ? -7000 : 0);
    y[63] += 9000;
    y[64] += 9000;
    y[94] = y[95] = 72000;
    ck_assert(shape_of(y, 96).late_share > 0.2);
}

TEST(a_plateau_is_found_where_it_begins)
{
    double y[120];

    for (int i = 0; i < 120; i++)
        y[i] = i < 50 ? 1000.0 * i : 50000;
    struct seep_shape s = shape_of(y, 120);
    ck_assert_msg(s.plateau_at >= 46 && s.plateau_at <= 51, "at %zu", s.plateau_at);
    ck_assert(s.late_share < 0.05);
}

TEST(batches_in_flight_do_not_hide_a_plateau)
{
    double y[120];

    for (int i = 0; i < 120; i++)
        y[i] = (i < 50 ? 1000.0 * i : 50000) + (i % 7 == 0 ? 600 : 0);
    struct seep_shape s = shape_of(y, 120);
    ck_assert_msg(s.plateau_at >= 44 && s.plateau_at <= 52, "at %zu", s.plateau_at);
}

TEST(a_level_that_never_changes_has_no_plateau)
{
    double y[60];

    for (int i = 0; i < 60; i++)
        y[i] = 12345;
    struct seep_shape s = shape_of(y, 60);
    ck_assert_uint_eq(s.plateau_at, 0);
    ck_assert_uint_eq(s.rising, 0);
    ck_assert_double_eq(s.rise, 0);
    ck_assert_double_eq(s.fall, 0);
}

TEST(a_collectors_sawtooth_falls_deep)
{
    double y[100];

    for (int i = 0; i < 100; i++)
        y[i] = 1000.0 * ((i + 20) % 60);
    ck_assert(shape_of(y, 100).fall > 0.9);
}

SUITE("statistics")
