/* What grows without bound, what only seems to, and what cannot be decided yet. */
#include "tests/verdict/pattern_fixture.h"

static void set_steps(uint32_t steps)
{
    job->processes[0].steps = steps;
    job->processes[0].period = FIRST + steps;
}

static uint64_t sawtooth(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0 : 1 + period % 60;
}

/* ---- by steps -------------------------------------------------------------------------------- */

TEST(growth_without_an_end_is_unbounded)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    uint32_t stack = below(main_stack, "/home/user/train.py", "remember", 77);

    builder_header(&b)->limit_cgroup_bytes = UINT64_C(400) << 20;
    builder_header(&b)->limit_cgroup_version = 2;
    builder_header(&b)->limit_ram_bytes = UINT64_C(8) << 30;
    builder_level(&b, stack, 0, 8192, LAST, ramp, &r);
    const json_t *f = only("unbounded-growth", "leak", 77);
    const json_t *growth = json_object_get(f, "growth_bytes_per_step");
    ck_assert_double_eq_tol(number(growth, "value"), 16384, 400);
    ck_assert(number(growth, "low") <= number(growth, "value"));
    ck_assert(number(growth, "high") >= number(growth, "value"));
    ck_assert_double_eq(number(f, "limit_bytes"), 400 << 20);
    ck_assert_double_eq_tol(number(f, "steps_to_limit"), 100 * 64, 200);
    ck_assert(json_is_null(json_object_get(f, "plateau_step")));
    ck_assert_double_eq(number(f, "first_step"), 1);
}

static const char *evidence_of_limit(const json_t *finding)
{
    const json_t *list = json_object_get(finding, "evidence");

    for (size_t i = 0; i < json_array_size(list); i++)
        if (strstr(json_string_value(json_array_get(list, i)), " in use"))
            return json_string_value(json_array_get(list, i));
    return "";
}

/* Of 300 MiB resident 100 are seep's: without seep the job would have gone on for longer. */
TEST(limits_are_held_against_the_jobs_memory_without_seeps)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    struct seep_header *h = builder_header(&b);

    h->limit_cgroup_bytes = UINT64_C(400) << 20;
    h->limit_cgroup_version = 2;
    h->rss_peak = h->rss_samples[h->n_rss_samples++] = (struct seep_rss_sample){
        .t_ns = h->start_ns + 1, .period = 1, .rss_bytes = 300 * MIB, .seep_bytes = 100 * MIB};
    builder_level(&b, below(main_stack, "/home/user/train.py", "remember", 77), 0, 8192, LAST, ramp,
                  &r);
    const json_t *f = only("unbounded-growth", "leak", 77);
    ck_assert_double_eq_tol(number(f, "steps_to_limit"), 200 * 64, 400);
    ck_assert_str_eq(evidence_of_limit(f), "200 MiB of 400 MiB cgroup limit in use, and 100 MiB by "
                                           "seep, which is not counted here");
}

/* An address space is not resident memory: 900 of 1,000 MiB of it are taken, 300 MiB are resident.
 */
TEST(each_limit_is_held_against_what_counts_towards_it)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    builder_header(&b)->limit_ram_bytes = UINT64_C(8) << 30;
    builder_header(&b)->limit_address_bytes = UINT64_C(1000) << 20;
    builder_header(&b)->address_bytes = UINT64_C(900) << 20;
    builder_level(&b, below(main_stack, "/home/user/train.py", "remember", 77), 0, 8192, LAST, ramp,
                  &r);
    const json_t *f = only("unbounded-growth", "leak", 77);
    ck_assert_double_eq(number(f, "limit_bytes"), 1000 << 20);
    ck_assert_double_eq_tol(number(f, "steps_to_limit"), 100 * 64, 200);
}

TEST(growth_is_told_of_the_space_that_it_lies_in)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    builder_site(&b, user(77), MMAP, 1, 32 * MIB, 0, 0, 2);
    builder_level(&b, user(77), HOST, 8192, LAST, ramp, &r);
    ck_assert_str_eq(text(only("unbounded-growth", "leak", 77), "space"), "host");
}

TEST(growth_freed_by_the_jobs_end_is_growth)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, LAST};

    builder_level(&b, below(main_stack, "/home/user/train.py", "remember", 77), 0, 8192, LAST, ramp,
                  &r);
    const json_t *f = only("unbounded-growth", "leak", 77);
    ck_assert_double_eq(number(f, "count"), 2 * STEPS);
}

/* More than the last steps can have added is the teardown's own. */
TEST(what_the_jobs_end_makes_beside_it_is_not_counted)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, LAST};
    const uint32_t stack = below(main_stack, "/home/user/train.py", "remember", 77);

    ((struct seep_site *)builder_at(&b, builder_level(&b, stack, 0, 8192, LAST, ramp, &r)))
        ->peak_bytes += 3 * 8192;
    ck_assert_double_lt(number(only("unbounded-growth", "leak", 77), "count"), 2 * STEPS);
}

TEST(a_leak_beside_a_noisy_buffer_of_the_same_line_is_found)
{
    struct ramp r = {FIRST, UINT32_MAX, 4, UINT32_MAX};
    uint32_t user = below(main_stack, "/home/user/train.py", "remember", 77);
    uint32_t noisy = builder_stack(&b, user, builder_native(&b, "/usr/lib/libc10.so", NULL, 1));

    builder_level(&b, user, 0, 8192, LAST, ramp, &r);
    builder_level(&b, noisy, 0, 20000, LAST, one_in_flight, NULL);
    only("unbounded-growth", "leak", 77);
}

TEST(warm_up_is_no_growth)
{
    struct ramp r = {FIRST, FIRST + 6, 20, UINT32_MAX};

    builder_level(&b, below(main_stack, "/home/user/train.py", "warm", 61), 0, 8192, LAST, ramp,
                  &r);
    nobody();
}

TEST(a_cyclic_collectors_sawtooth_is_no_leak)
{
    builder_level(&b, below(main_stack, "/home/user/train.py", "cycle", 61), 0, 8192, LAST,
                  sawtooth, NULL);
    nobody();
}

TEST(a_steady_level_that_is_never_freed_is_no_leak)
{
    uint64_t blocks = 5;

    builder_level(&b, below(main_stack, "/home/user/train.py", "buffers", 61), 0, 1 << 20, LAST,
                  constant, &blocks);
    nobody();
}

TEST(a_trickle_is_not_worth_a_word)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, below(main_stack, "/home/user/train.py", "log", 61), 0, 100, LAST, ramp, &r);
    nobody();
}

/* ---- by epochs, and too few steps ------------------------------------------------------------ */

TEST(growth_within_the_first_epoch_is_undetermined)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    add_epochs(1, STEPS);
    builder_level(&b, below(main_stack, "/home/user/data.py", "collate", 40), 0, 32768, LAST, ramp,
                  &r);
    const json_t *f = only("undetermined", "pressure", 40);
    ck_assert(number(f, "confidence") <= 0.5);
    ck_assert_int_ne(strstr(text(f, "advice"), "epoch") != NULL, 0);
}

TEST(growth_past_the_first_epoch_is_unbounded)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    add_epochs(4, 50);
    builder_level(&b, below(main_stack, "/home/user/data.py", "collate", 40), 0, 32768, LAST, ramp,
                  &r);
    only("unbounded-growth", "leak", 40);
}

TEST(growth_over_a_few_steps_is_undetermined)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    set_steps(10);
    builder_level(&b, below(main_stack, "/home/user/train.py", "keep", 40), 0, 1 << 20, FIRST + 10,
                  ramp, &r);
    only("undetermined", "pressure", 40);
}

/* ---- by time --------------------------------------------------------------------------------- */

TEST(without_steps_growth_is_by_time_and_says_so)
{
    struct ramp r = {1, UINT32_MAX, 2, UINT32_MAX};

    set_steps(0);
    job->processes[0].first_step_period = 0;
    builder_level(&b, below(main_stack, "/home/user/serve.py", "handle", 21), 0, 8192, LAST, ramp,
                  &r);
    only("unbounded-growth", "leak", 21);
    ck_assert_str_eq(text(json_object_get(report, "job"), "step_source"), "time");
}

/* A teardown of 2 s, slice by slice. */
static uint64_t ramp_and_back(uint32_t period, void *arg)
{
    uint32_t turn = LAST - 20;

    (void)arg;
    return period < turn   ? 2 * period
           : period < LAST ? (uint64_t)2 * turn * (LAST - period) / 20
                           : 0;
}

TEST(a_long_teardown_does_not_hide_growth_by_time)
{
    set_steps(0);
    job->processes[0].first_step_period = 0;
    builder_level(&b, below(main_stack, "/home/user/serve.py", "handle", 21), 0, 8192, LAST,
                  ramp_and_back, NULL);
    const json_t *f = only("unbounded-growth", "leak", 21);
    ck_assert_double_eq_tol(number(f, "count"), 2 * (LAST - 20), 8);
}

/* ---- in a worker ----------------------------------------------------------------------------- */

/* A worker that leaks and ends some slices before the trainer does: it is found whenever that is.
 */
TEST(a_leaking_worker_is_found_whenever_it_ends, .to = 12)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    struct builder worker;

    builder_timeline(&b, LAST, UINT64_C(300) << 20);
    builder_init(&worker, 200, START + 500000000);
    uint32_t loop = builder_stack(
        &worker, 0,
        builder_python(&worker, "/usr/lib/python3/dist-packages/torch/utils/data/_utils/worker.py",
                       "_worker_loop", 302));
    uint32_t item = builder_stack(&worker, loop,
                                  builder_python(&worker, "/home/user/data.py", "__getitem__", 23));
    builder_level(&worker, item, 0, 8192, LAST - 5, ramp, &r);
    const json_t *list = findings_with(&worker, LAST - 5, (uint64_t)_i * 100000000);
    ck_assert_uint_eq(json_array_size(list), 1);
    const json_t *f = json_array_get(list, 0);
    ck_assert_str_eq(text(f, "pattern"), "unbounded-growth");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), 23);
    ck_assert_double_eq(json_number_value(json_array_get(json_object_get(f, "processes"), 0)), 200);
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), 16384,
                            700);
}

SUITE("growing", .setup = setup, .teardown = teardown)
