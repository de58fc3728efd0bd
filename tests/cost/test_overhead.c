/* What a job's cost makes of how coarsely it is recorded, second by second. */
#include <check.h>
#include <string.h>

#include "preload/cost/overhead.h"
#include "tests/suite.h"

#define SECOND UINT64_C(1000000000)

enum { MOST = 8 };

static struct seep_overhead overhead;
static uint64_t age_ns, spent_ns, memory_bytes;
static unsigned coarseness, n_changes;
static bool importing;

static void setup(void)
{
    overhead = (struct seep_overhead){.share = .05, .most = MOST};
    age_ns = spent_ns = memory_bytes = 0;
    coarseness = n_changes = 0;
    importing = false;
}

/* `cost` of each second if all is recorded; half as much is recorded at each coarseness above the
 * first, which records a fifth, and a hundredth of the cost remains. `stops` of it are looks. */
static void run(unsigned seconds, double cost, double stops)
{
    for (unsigned i = 0; i < seconds; i++) {
        const double part = coarseness ? .2 / (1 << (coarseness - 1)) : 1;
        const double its = cost * (part + (1 - part) / 100) + stops;
        struct seep_overhead_window w = {.age_ns = age_ns += SECOND,
                                         .ns = SECOND,
                                         .spent_ns = (uint64_t)(its * 1e9),
                                         .stops_ns = (uint64_t)(stops * 1e9),
                                         .memory_bytes = memory_bytes,
                                         .importing = importing};
        const unsigned before = coarseness;
        coarseness = seep_overhead_judge(&overhead, &w, coarseness);
        spent_ns += w.spent_ns;
        n_changes += coarseness != before;
    }
}

static double share(void)
{
    return (double)spent_ns / (double)age_ns;
}

TEST(a_job_within_the_budget_is_recorded_whole)
{
    run(3600, .049, 0);
    ck_assert_uint_eq(n_changes, 0);
}

TEST(a_short_job_may_spend_a_minutes_worth)
{
    importing = true;
    run(2, .3, 0);
    importing = false;
    run(50, .04, 0);
    ck_assert_uint_eq(n_changes, 0);
}

static const double dear[] = {.06, .08, .1, .2, .3, .5, .8};

TEST(a_job_of_a_minute_costs_no_more_than_its_budget, .to = sizeof dear / sizeof *dear)
{
    run(60, dear[_i], 0);
    ck_assert_double_le(share(), .05);
    run(540, dear[_i], 0);
    ck_assert_double_le(share(), .05);
}

TEST(imports_are_paid_for_and_do_not_start_sampling)
{
    importing = true;
    run(6, .2, 0);
    ck_assert_uint_eq(coarseness, 0);
    importing = false;
    run(54, .03, 0);
    ck_assert_uint_eq(coarseness, 0);
    setup();
    importing = true;
    run(6, .4, 0);
    ck_assert_uint_eq(coarseness, 0);
    importing = false;
    run(54, .04, 0);
    ck_assert_double_le(share(), .05);
}

TEST(after_the_first_seconds_imports_cost_like_anything_else)
{
    importing = true;
    run(40, .4, 0);
    ck_assert_uint_gt(coarseness, 0);
}

TEST(a_job_that_calms_down_is_recorded_whole_again)
{
    run(120, .3, 0);
    ck_assert_uint_gt(coarseness, 0);
    run(600, .01, 0);
    ck_assert_uint_eq(coarseness, 0);
}

/* What is sampled less costs too much again: tried ever more rarely. */
TEST(it_does_not_swing_between_two_ways)
{
    run(60, .08, 0);
    n_changes = 0;
    run(4 * 3600, .08, 0);
    ck_assert_uint_le(n_changes, 40);
    ck_assert_double_le(share(), .05);
}

TEST(a_minute_of_quiet_allows_a_burst)
{
    run(300, .001, 0);
    run(2, .3, 0);
    ck_assert_uint_eq(coarseness, 0);
    run(60, .3, 0);
    ck_assert_uint_gt(coarseness, 0);
}

TEST(stops_are_not_answered_by_sampling)
{
    run(15, .01, .1);
    ck_assert_uint_lt(seep_overhead_room_ns(&overhead), SECOND);
    run(600, .01, 0);
    ck_assert_uint_eq(n_changes, 0);
}

TEST(a_look_leaves_half_for_recording)
{
    ck_assert_uint_eq(seep_overhead_room_ns(&overhead), 3 * SECOND / 2);
    run(60, .04, 0);
    ck_assert_uint_ge(seep_overhead_room_ns(&overhead), SECOND / 4);
    ck_assert_uint_le(seep_overhead_room_ns(&overhead), SECOND / 2);
}

/* Ten seconds in one look are worth 200 of the job's: until then there is no room for another. */
TEST(a_long_look_is_paid_for_before_another_one)
{
    run(60, .01, 0);
    run(1, .01, 10);
    ck_assert_uint_eq(seep_overhead_room_ns(&overhead), 0);
    run(150, .01, 0);
    ck_assert_uint_eq(seep_overhead_room_ns(&overhead), 0);
    run(100, .01, 0);
    ck_assert_uint_gt(seep_overhead_room_ns(&overhead), 0);
    ck_assert_uint_eq(n_changes, 0);
}

/* Of MiB, with a bound of 64. */
static const struct {
    unsigned own, coarseness;
} filled[] = {{0, 0},  {32, 0}, {33, 1}, {35, 1}, {36, 2},
              {48, 5}, {59, 7}, {60, 8}, {64, 8}, {65, 8}};

TEST(the_more_memory_is_taken_the_less_is_recorded, .to = N(filled))
{
    overhead.memory_bytes = 64 << 20;
    memory_bytes = (uint64_t)filled[_i].own << 20;
    run(1, .01, 0);
    ck_assert_uint_eq(coarseness, filled[_i].coarseness);
    run(60, .01, 0);
    ck_assert_uint_eq(coarseness, filled[_i].coarseness);
}

TEST(once_memory_is_given_back_more_is_recorded_again)
{
    overhead.memory_bytes = 64 << 20;
    memory_bytes = 65 << 20;
    run(60, .01, 0);
    ck_assert_uint_eq(coarseness, MOST);
    memory_bytes = 48 << 20;
    run(600, .01, 0);
    ck_assert_uint_eq(coarseness, 5);
    memory_bytes = 32 << 20;
    run(600, .01, 0);
    ck_assert_uint_eq(coarseness, 0);
}

TEST(a_reader_has_what_seep_in_the_process_leaves_of_the_memory)
{
    ck_assert_uint_eq(seep_overhead_room_bytes(&overhead), 0);
    overhead.memory_bytes = 64 << 20;
    ck_assert_uint_eq(seep_overhead_room_bytes(&overhead), 64 << 20);
    memory_bytes = 20 << 20;
    run(1, .01, 0);
    ck_assert_uint_eq(seep_overhead_room_bytes(&overhead), 44 << 20);
    memory_bytes = 64 << 20;
    run(1, .01, 0);
    ck_assert_uint_eq(seep_overhead_room_bytes(&overhead), 1);
}

TEST(without_bounds_nothing_changes)
{
    overhead.share = 0;
    memory_bytes = UINT64_MAX;
    run(600, .9, .1);
    ck_assert_uint_eq(n_changes, 0);
    ck_assert_uint_eq(seep_overhead_room_ns(&overhead), UINT64_MAX);
}

TEST(what_the_job_was_started_with_is_the_finest)
{
    overhead.least = coarseness = 1;
    run(600, 0, 0);
    ck_assert_uint_eq(coarseness, 1);
}

/* A job that makes no events for an hour has no seconds to judge. */
TEST(a_pause_is_one_long_window)
{
    run(30, .3, 0);
    const struct seep_overhead_window w = {.age_ns = 3600 * SECOND, .ns = 3570 * SECOND};
    coarseness = seep_overhead_judge(&overhead, &w, coarseness);
    age_ns = w.age_ns;
    run(120, .01, 0);
    ck_assert_uint_eq(coarseness, 0);
}

SUITE("overhead", .setup = setup)
