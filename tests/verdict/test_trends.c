/* Levels on either side of each threshold for growth, and what is said after few steps: each pair
 * differs in one thing. */
#include "tests/verdict/levels.h"

enum { LINE = 77, BLOCK = 8192, LARGE = 256 * 1024 };

static uint32_t line(void)
{
    return below(main_stack, "/home/user/train.py", "remember", LINE);
}

/* ---- a long run ------------------------------------------------------------------------------ */

/* A cache that is trimmed now and then, each time by less than it had gained: looked at in eight
 * windows, it falls in two or in three of them. */
static struct bend trimmed[][10] = {
    {{20, 100}, {31, 200}, {54, 300}, {76, 240}, {98, 400}, {121, 340}, {143, 500}, {199, 700}},
    {{20, 100},
     {31, 200},
     {54, 300},
     {76, 240},
     {98, 400},
     {121, 340},
     {143, 500},
     {166, 440},
     {199, 600}},
};

TEST(a_level_that_falls_back_seldom_climbs)
{
    builder_level(&b, line(), 0, BLOCK, LAST, drawn, trimmed[0]);
    only("unbounded-growth", "leak", LINE);
}

TEST(a_level_that_falls_back_again_and_again_wanders)
{
    builder_level(&b, line(), 0, BLOCK, LAST, drawn, trimmed[1]);
    nobody();
}

/* Of its whole range it falls by three tenths, or by half, and climbs on. */
static struct bend dropped[][5] = {
    {{20, 100}, {100, 500}, {110, 290}, {199, 800}},
    {{20, 100}, {100, 500}, {110, 150}, {199, 800}},
};

TEST(a_level_that_drops_once_climbs)
{
    builder_level(&b, line(), 0, BLOCK, LAST, drawn, dropped[0]);
    only("unbounded-growth", "leak", LINE);
}

TEST(a_level_that_drops_by_half_of_its_range_does_not)
{
    builder_level(&b, line(), 0, BLOCK, LAST, drawn, dropped[1]);
    nobody();
}

TEST(growth_of_a_hundred_kib_is_worth_a_word)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, line(), 0, 560, LAST, ramp, &r);
    only("unbounded-growth", "leak", LINE);
}

TEST(growth_of_half_of_that_is_not_even_of_a_large_line)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, line(), 0, 280, LAST, ramp, &r);
    builder_level(&b, line(), 0, BLOCK, LAST, four, NULL);
    builder_level(&b, line(), 0, LARGE, LAST, four, NULL);
    nobody();
}

/* ---- a few steps: too few for a trend that is clear of chance, and yet some are steady --------
 */

static struct {
    const char *what, *pattern;
    struct bend level[8];
} few[] = {
    {"a level that rises evenly",
     "undetermined",
     {{3, 10}, {4, 20}, {5, 30}, {6, 40}, {7, 50}, {8, 60}}},
    {"a level of too few steps", NULL, {{3, 10}, {4, 30}, {5, 50}, {6, 70}, {7, 90}}},
    {"a level that hardly moves and then leaps",
     NULL,
     {{3, 10}, {4, 11}, {5, 12}, {6, 42}, {7, 102}, {8, 132}}},
    {"a level that rises more slowly in the end",
     "undetermined",
     {{3, 10}, {4, 50}, {5, 85}, {6, 105}, {7, 120}, {8, 120}}},
    {"a level that has all but settled",
     NULL,
     {{3, 10}, {4, 60}, {5, 90}, {6, 100}, {7, 108}, {8, 108}}},
    {"a level that gives a little back once",
     "undetermined",
     {{3, 10}, {4, 35}, {5, 25}, {6, 40}, {7, 50}, {8, 70}, {9, 80}}},
    {"a level that gives a third of it back once",
     NULL,
     {{3, 10}, {4, 50}, {5, 25}, {6, 60}, {7, 70}, {8, 80}, {9, 80}}},
};

static void set_steps(uint32_t steps)
{
    job->processes[0].steps = steps;
    job->processes[0].period = FIRST + steps;
}

TEST(of_a_few_steps_only_steady_growth_is_spoken_of, .to = N(few))
{
    const struct bend *last = few[_i].level;

    while (last[1].step)
        last++;
    set_steps(last->step);
    builder_level(&b, line(), 0, LARGE, FIRST + last->step, drawn, few[_i].level);
    if (few[_i].pattern)
        only(few[_i].pattern, "pressure", LINE);
    else
        nobody();
}

/* Three steps warm up, and the last one's end is not seen. */
TEST(nine_steps_are_too_few_for_a_leak_and_twelve_are_not, .to = 2)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    const uint32_t steps = 3 + 1 + (_i ? 12 : 9);

    set_steps(steps);
    builder_level(&b, line(), 0, LARGE, FIRST + steps, ramp, &r);
    if (_i)
        only("unbounded-growth", "leak", LINE);
    else
        only("undetermined", "pressure", LINE);
}

SUITE("trends", .setup = setup, .teardown = teardown)
