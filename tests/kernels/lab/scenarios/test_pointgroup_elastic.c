/* Elastic distortion of PointGroup's scenes: smooth, bounded, without a drift, and repeatable. */
#include "kernels/lab/scenarios/pointgroup_elastic.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

/* What PointGroup uses, in voxels. */
static const double sizes[][2] = {{6, 40}, {20, 160}};

/* Deviation of a node's shift: of six box filters over white noise, (19/81)^(3/2). */
static const double deviation = 0.1136;

enum { POINTS = 2000, SEEDS = 400 };

static void fill_room(float (*at)[3])
{
    struct seep_chance chance = {1};

    for (int i = 0; i < POINTS; i++) {
        for (int k = 0; k < 3; k++)
            at[i][k] = (float)seep_chance_between(&chance, k == 2 ? 0 : -200, k == 2 ? 150 : 200);
    }
}

static void distort(float (*at)[3], size_t n, int which, uint64_t seed)
{
    struct seep_chance chance = {seed};

    ck_assert_int_eq(seep_pointgroup_distort(at, n, sizes[which][0], sizes[which][1], &chance), 0);
}

TEST(shifts_are_bounded_and_as_large_as_published, .to = N(sizes))
{
    float before[POINTS][3], after[POINTS][3];
    double sum = 0, most = 0, magnitude = sizes[_i][1];

    fill_room(before);
    memcpy(after, before, sizeof after);
    distort(after, POINTS, _i, 7);
    for (int i = 0; i < POINTS; i++) {
        for (int k = 0; k < 3; k++) {
            double shift = fabs((double)after[i][k] - (double)before[i][k]);
            sum += shift * shift;
            most = fmax(most, shift);
        }
    }
    double rms = sqrt(sum / (3 * POINTS));
    /* Between nodes shifts are means of neighbours; at the grid's edge zeros lie beside them. */
    ck_assert_double_le(rms, 1.3 * deviation * magnitude);
    ck_assert_double_ge(rms, 0.4 * deviation * magnitude);
    ck_assert_double_le(most, 6 * deviation * magnitude);
}

TEST(neighbours_stay_neighbours, .to = N(sizes))
{
    enum { STEPS = 4000 };
    static float line[STEPS][3];
    double step = 300.0 / STEPS, steepest = 0;

    /* Across nodes and between them. Two of them, 2 granularities apart, differ by less than six
     * deviations of a difference, which is below the deviation itself. */
    for (int i = 0; i < STEPS; i++) {
        line[i][0] = (float)(-150 + i * step);
        line[i][1] = (float)(-50 + 0.3 * i * step);
        line[i][2] = 60;
    }
    distort(line, STEPS, _i, 3);
    for (int i = 1; i < STEPS; i++) {
        for (int k = 0; k < 3; k++) {
            double straight = k == 0 ? step : k == 1 ? 0.3 * step : 0;
            steepest =
                fmax(steepest, fabs((double)line[i][k] - (double)line[i - 1][k] - straight) / step);
        }
    }
    ck_assert_double_le(steepest, 1.3 * 6 * deviation * sizes[_i][1] / (2 * sizes[_i][0]));
    ck_assert_double_gt(steepest, 0.01);
}

TEST(no_direction_is_preferred, .to = N(sizes))
{
    static const float spot[3] = {31, -17, 5};
    double sums[3] = {0}, magnitude = sizes[_i][1];

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        float at[2][3] = {{31, -17, 5}, {150, 150, 100}}; /* the second makes the grid large */
        distort(at, 2, _i, seed * 1000003);
        for (int k = 0; k < 3; k++)
            sums[k] += (double)at[0][k] - (double)spot[k];
    }
    for (int k = 0; k < 3; k++)
        ck_assert_double_le(fabs(sums[k] / SEEDS), 4 * deviation * magnitude / sqrt(SEEDS));
}

TEST(a_seed_gives_the_same_again)
{
    float one[POINTS][3], other[POINTS][3], third[POINTS][3];

    fill_room(one);
    memcpy(other, one, sizeof other);
    memcpy(third, one, sizeof third);
    distort(one, POINTS, 0, 5);
    distort(other, POINTS, 0, 5);
    distort(third, POINTS, 0, 6);
    ck_assert_mem_eq(one, other, sizeof one);
    ck_assert_mem_ne(one, third, sizeof one);
}

TEST(coordinates_of_any_kind_do_no_harm)
{
    float odd[][3] = {{NAN, 1, 2}, {INFINITY, 1, 2}, {3, -INFINITY, 2}, {0, 0, 0}},
          far[][3] = {{1e9f, 0, 0}, {0, 1e9f, 0}, {0, 0, 1e9f}};
    struct seep_chance chance = {1};

    ck_assert_int_eq(seep_pointgroup_distort(odd, N(odd), 6, 40, &chance), 0);
    ck_assert(isnan(odd[0][0]) && isinf(odd[1][0]) && isinf(odd[2][1]));
    ck_assert_float_eq(odd[0][1], 1);
    ck_assert_int_eq(seep_pointgroup_distort(far, N(far), 6, 40, &chance), -SEEP_ENOMEM);
    ck_assert_int_eq(seep_pointgroup_distort(NULL, 0, 6, 40, &chance), 0);
}

SUITE("pointgroup_elastic")
