/* What epochs say of growth: laps say less than passes that a loader tells of, and what begins with
 * a later epoch is judged by its own. */
#include "tests/verdict/pattern_fixture.h"

enum { LINE = 77, BLOCK = 64 * 1024 };

static uint32_t of_data(void)
{
    return below(main_stack, "/home/user/data.py", "__getitem__", LINE);
}

static uint32_t of_user(void)
{
    return below(main_stack, "/home/user/train.py", "remember", LINE);
}

static void add_laps(uint32_t n, uint32_t steps_each)
{
    add_epochs(n, steps_each);
    job->processes[0].epoch_source = SEEP_EPOCHS_LOOP;
}

static void is_open(const char *evidence)
{
    const json_t *f = only("undetermined", "pressure", LINE);
    char *all = json_dumps(f, 0);

    ck_assert_msg(strstr(all, evidence) != NULL, "%s", all);
    free(all);
}

/* At the end of each lap of so many steps blocks that stay. */
static uint64_t lap_by_lap(uint32_t period, void *arg)
{
    return period < FIRST ? 0 : 16 * ((period - FIRST + 1) / *(uint32_t *)arg);
}

/* Things that are met for the first time ever more rarely. */
static uint64_t ever_fewer(uint32_t period, void *arg)
{
    double left = 1;

    (void)arg;
    for (uint32_t k = FIRST; k <= period; k++)
        left *= 1 - 1 / 100.0;
    return period < FIRST ? 0 : (uint64_t)(400 * (1 - left));
}

/* ---- laps ------------------------------------------------------------------------------------ */

TEST(without_epochs_a_dataset_may_be_used_for_the_first_time)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    builder_level(&b, of_data(), 0, BLOCK, LAST, ramp, &r);
    is_open("every item was used");
}

TEST(past_a_lap_it_is_not_used_for_the_first_time)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    add_laps(4, 50);
    builder_level(&b, of_data(), 0, BLOCK, LAST, ramp, &r);
    const json_t *f = only("unbounded-growth", "leak", LINE);
    ck_assert(number(f, "confidence") < 0.95);
    ck_assert_str_eq(text(json_object_get(report, "job"), "epoch_source"), "loop");
}

TEST(of_one_lap_nothing_is_known)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    add_laps(2, 150);
    builder_level(&b, of_user(), 0, BLOCK, LAST, ramp, &r);
    only("unbounded-growth", "leak", LINE);
}

TEST(what_slows_down_may_end_after_a_lap_too)
{
    add_laps(8, 25);
    builder_level(&b, of_user(), 0, BLOCK, LAST, ever_fewer, NULL);
    const json_t *f = only("undetermined", "pressure", LINE);
    ck_assert_ptr_nonnull(f);
}

TEST(what_each_lap_leaves_behind_is_a_leak_where_laps_are_many)
{
    uint32_t steps = 28;

    add_laps(7, steps);
    builder_level(&b, of_user(), 0, BLOCK, LAST, lap_by_lap, &steps);
    only("unbounded-growth", "leak", LINE);
}

TEST(where_laps_are_few_it_may_be_the_best_five)
{
    uint32_t steps = 40;

    add_laps(5, steps);
    builder_level(&b, of_user(), 0, BLOCK, LAST, lap_by_lap, &steps);
    is_open("a few jumps");
}

/* What a user's own code fills in the first lap costs what it costs. */
TEST(a_cache_of_the_users_that_fills_in_the_first_lap_is_not_accused)
{
    struct ramp r = {FIRST, FIRST + 49, 8, UINT32_MAX};

    add_laps(4, 50);
    builder_level(&b, of_user(), 0, BLOCK, LAST, ramp, &r);
    const json_t *list = findings();
    for (size_t i = 0; i < json_array_size(list); i++)
        ck_assert_str_ne(text(json_array_get(list, i), "severity"), "retention");
}

TEST(one_of_the_data_is)
{
    struct ramp r = {FIRST, FIRST + 49, 8, UINT32_MAX};

    add_laps(4, 50);
    builder_level(&b, of_data(), 0, BLOCK, LAST, ramp, &r);
    only("first-touch-cache", "retention", LINE);
}

/* ---- what begins later ----------------------------------------------------------------------- */

TEST(a_cache_that_fills_in_the_second_epoch_is_a_first_touch_cache)
{
    struct ramp r = {FIRST + 50, FIRST + 99, 8, UINT32_MAX};

    add_epochs(4, 50);
    builder_level(&b, of_data(), 0, BLOCK, LAST, ramp, &r);
    const json_t *f = only("first-touch-cache", "retention", LINE);
    ck_assert_double_eq_tol(number(f, "plateau_step"), 100, 4);
}

TEST(one_that_fills_in_the_last_epoch_may_be_a_cache_or_a_leak)
{
    struct ramp r = {FIRST + 101, UINT32_MAX, 8, UINT32_MAX};

    add_epochs(2, 100);
    builder_level(&b, of_data(), 0, BLOCK, LAST, ramp, &r);
    is_open("began in a later epoch");
}

TEST(what_begins_in_the_second_epoch_and_goes_on_is_a_leak)
{
    struct ramp r = {FIRST + 50, UINT32_MAX, 8, UINT32_MAX};

    add_epochs(4, 50);
    builder_level(&b, of_data(), 0, BLOCK, LAST, ramp, &r);
    only("unbounded-growth", "leak", LINE);
}

SUITE("epochs", .setup = setup, .teardown = teardown)
