/* What a trend must show to count as growth: each threshold from both sides, with all others well
 * exceeded. */
#include "libprof/measure/growth.h"
#include "tests/suite.h"

#include <check.h>

enum { STEPS = 100, LEAST = 1000 };

/* 10,000 bytes in 100 steps. */
static const struct seep_trend clear = {
    .slope = {100, 90, 110},
    .shape = {.windows = 8, .rising = 8, .late_share = 0.33, .noise = 100, .rise = 10000},
    .z = 6,
};

static const struct {
    const char *what;
    double z, noise, late_share;
    bool grows;
} trends[] = {
    {"clear of all", 6, 100, 0.33, true},
    {"TREND_Z: chance gives it at times", 2, 100, 0.33, false},
    {"TREND_Z: chance hardly gives it", 3.2, 100, 0.33, true},
    {"TREND_NOISE: 2.5 times the noise", 6, 4000, 0.33, false},
    {"TREND_NOISE: 4 times the noise", 6, 2500, 0.33, true},
    {"TREND_LATE_SHARE: all but stopped", 6, 100, 0.08, false},
    {"TREND_LATE_SHARE: slower in the end", 6, 100, 0.13, true},
};

TEST(growth_is_clear_of_chance_and_noise_and_goes_on, .to = N(trends))
{
    struct seep_trend trend = clear;

    trend.z = trends[_i].z;
    trend.shape.noise = trends[_i].noise;
    trend.shape.late_share = trends[_i].late_share;
    ck_assert_msg(seep_trend_grows(&trend, STEPS, LEAST, 0.6) == trends[_i].grows, "%s",
                  trends[_i].what);
}

SUITE("trend")
