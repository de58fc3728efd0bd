/* What is replaced by something larger, now and then or all the time: one level on either side of
 * what makes it a staircase. */
#include "tests/judge/levels.h"

enum { LINE = 77 };

/* A level of a number of blocks that stays, and of bytes that are drawn, in KiB: a point every
 * second step, as many as a series holds. */
static void remade(uint32_t blocks, struct bend *kib)
{
    struct seep_point points[STEPS];
    uint64_t allocated = 0, freed = 0, before = 0;
    unsigned n = 0;

    for (uint32_t period = FIRST; period < LAST; period += 2) {
        const uint64_t now = drawn(period, kib) * 1024;
        if (now == before)
            continue;
        allocated += now;
        freed += before;
        before = now;
        points[n++] = (struct seep_point){period, blocks, now};
    }
    uint32_t site = builder_site(&b, below(main_stack, "/home/user/train.py", "densify", LINE),
                                 HOST, blocks * n, allocated, blocks * (n - 1), freed, FIRST);
    builder_detail(&b, site, points, n);
    struct seep_site *s = builder_at(&b, site);
    s->last_period = LAST - 1;
    s->peak_bytes = before;
    s->peak_period = LAST - 1;
}

/* ---- a staircase ----------------------------------------------------------------------------- */

static struct bend pruned[][10] = {
    {{1, 4000}, {40, 4000}, {41, 8000}, {80, 8000}, {81, 7440}, {120, 7440}, {121, 11000}},
    {{1, 4000}, {40, 4000}, {41, 8000}, {80, 8000}, {81, 6880}, {120, 6880}, {121, 11000}},
};

TEST(a_model_that_is_pruned_a_little_between_its_jumps_grows_in_stairs)
{
    remade(8, pruned[0]);
    only("legitimate-growth", "info", LINE);
}

TEST(a_buffer_that_shrinks_clearly_between_its_jumps_does_not)
{
    remade(8, pruned[1]);
    nobody();
}

static struct bend crept[][10] = {
    {{1, 4000}, {40, 4000}, {41, 7600}, {174, 8000}, {175, 11600}, {199, 12000}},
    {{1, 4000}, {40, 4000}, {41, 6800}, {174, 8000}, {175, 10800}, {199, 12000}},
};

TEST(a_model_that_creeps_a_little_between_its_jumps_grows_in_stairs)
{
    remade(8, crept[0]);
    only("legitimate-growth", "info", LINE);
}

TEST(a_table_that_grows_between_its_jumps_may_go_on)
{
    remade(8, crept[1]);
    only("undetermined", "pressure", LINE);
}

static struct bend until_the_end[] = {
    {1, 4000},   {40, 4000},  {41, 5000},  {80, 5000},  {81, 6000},  {120, 6000},
    {121, 7000}, {160, 7000}, {161, 8000}, {190, 8000}, {191, 9000}, {0, 0},
};

TEST(parameters_and_their_optimizers_state_may_grow_to_the_end)
{
    remade(6, until_the_end);
    only("legitimate-growth", "info", LINE);
}

TEST(a_history_and_two_copies_of_it_may_not)
{
    remade(3, until_the_end);
    only("undetermined", "pressure", LINE);
}

/* So many rises, spread over the run, each by a part of the level. */
static struct bend *rises(uint32_t n, double by)
{
    static struct bend level[2 * STEPS];
    size_t at = 0;
    double kib = 4000;

    level[at++] = (struct bend){1, kib};
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t step = 30 + i * 160 / n;
        level[at++] = (struct bend){step, kib};
        kib += kib * by;
        level[at++] = (struct bend){step + 1, kib};
    }
    level[at] = (struct bend){0};
    return level;
}

TEST(ten_rises_by_three_per_cent_are_stairs)
{
    remade(8, rises(10, 0.03));
    only("legitimate-growth", "info", LINE);
}

TEST(twenty_by_half_of_that_are_none)
{
    remade(8, rises(20, 0.015));
    only("undetermined", "pressure", LINE);
}

/* ---- a little more in every step ------------------------------------------------------------- */

static struct bend every_step[] = {{1, 4000}, {200, 12000}, {0, 0}};

TEST(a_few_arrays_that_are_remade_larger_may_be_data)
{
    remade(6, every_step);
    only("undetermined", "pressure", LINE);
}

TEST(many_blocks_that_are_remade_larger_keep_their_pace)
{
    remade(12, every_step);
    only("unbounded-growth", "leak", LINE);
}

SUITE("stairs", .setup = setup, .teardown = teardown)
