/* Will growth end: levels on either side of each threshold. */
#include "tests/verdict/levels.h"

enum { LINE = 77, BLOCK = 64 * 1024 };

static uint32_t line(void)
{
    return below(main_stack, "/home/user/train.py", "remember", LINE);
}

static void is_open(const char *evidence)
{
    const json_t *f = only("undetermined", "pressure", LINE);
    char *all = json_dumps(f, 0);

    ck_assert_msg(strstr(all, evidence) != NULL, "%s", all);
    free(all);
}

/* ---- a burst, and then an even pace ---------------------------------------------------------- */

TEST(a_pace_of_two_thirds_of_the_burst_is_kept)
{
    struct bend level[] = {{1, 0}, {20, 32}, {79, 232}, {199, 496}, {0, 0}};

    builder_level(&b, line(), 0, BLOCK, LAST, drawn, level);
    only("unbounded-growth", "leak", LINE);
}

TEST(a_pace_of_a_third_of_the_burst_may_end)
{
    struct bend level[] = {{1, 0}, {20, 32}, {79, 232}, {199, 374}, {0, 0}};

    builder_level(&b, line(), 0, BLOCK, LAST, drawn, level);
    is_open("It slows down");
}

TEST(a_pace_that_eases_by_a_tenth_is_kept)
{
    struct bend level[] = {{1, 0}, {20, 32}, {138, 432}, {199, 618}, {0, 0}};

    builder_level(&b, line(), 0, BLOCK, LAST, drawn, level);
    only("unbounded-growth", "leak", LINE);
}

/* After the burst 16 parts of eight steps, which gain more and less by turns. The halves of them
 * gain the same: if the parts differ widely, by chance. */
static const char *paced_unevenly(double off)
{
    struct bend level[20] = {{1, 0}, {67, 250}};

    for (unsigned i = 0; i < 16; i++)
        level[i + 2] = (struct bend){75 + 8 * i, level[i + 1].blocks + 18 + (i % 2 ? off : -off)};
    builder_level(&b, line(), 0, BLOCK, LAST, drawn, level);
    return text(json_array_get(findings(), 0), "severity");
}

TEST(a_pace_that_comes_unevenly_is_not_known)
{
    ck_assert_str_eq(paced_unevenly(5), "pressure");
}

TEST(a_pace_that_comes_nearly_evenly_is)
{
    ck_assert_str_eq(paced_unevenly(2), "leak");
}

/* ---- bursts, of which a third may just miss one ---------------------------------------------- */

/* Trials of 13 to 15 steps, each of which leaves something behind as it begins, within so many
 * steps. Five of them come in the first third, four in the last. */
static uint64_t by_trial(uint32_t period, void *arg)
{
    static const uint32_t starts[] = {5, 21, 34, 47, 60, 73, 90, 105, 120, 135, 150, 165, 180, 195};
    const uint32_t step = period < FIRST ? 0 : period - FIRST + 1, *within = arg;
    uint64_t blocks = 0;

    for (size_t i = 0; i < N(starts) && step >= starts[i]; i++)
        blocks += step - starts[i] + 1 < *within ? (step - starts[i] + 1) * 16 / *within : 16;
    return blocks;
}

TEST(trials_that_each_leave_as_much_do_not_slow_down, .to = 2)
{
    uint32_t within = _i ? 3 : 1;

    builder_level(&b, line(), 0, BLOCK, LAST, by_trial, &within);
    only("unbounded-growth", "leak", LINE);
}

/* ---- large jumps, and a little in every step ------------------------------------------------- */

static uint64_t at_evaluations(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0 : 64 * (1 + (period - FIRST) / 30);
}

static void jumps_beside(uint64_t bytes_a_step)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, line(), 0, BLOCK, LAST, at_evaluations, NULL);
    builder_level(&b, line(), 0, bytes_a_step, LAST, ramp, &r);
}

TEST(crumbs_between_a_few_jumps_are_no_rises)
{
    jumps_beside(590);
    is_open("a few jumps");
}

TEST(what_adds_up_between_a_few_jumps_is_a_pace)
{
    jumps_beside(1260);
    only("unbounded-growth", "leak", LINE);
}

SUITE("prospect limits", .setup = setup, .teardown = teardown)
