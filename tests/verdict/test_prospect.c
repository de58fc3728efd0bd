/* Will growth end: levels that look alike for a while, and what tells them apart. */
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

static void nobody_is_accused(void)
{
    const json_t *list = findings(), *f;
    size_t i;

    json_array_foreach (list, i, f)
        ck_assert_str_ne(text(f, "severity"), "leak");
}

/* ---- levels -------------------------------------------------------------------------------- */

/* Things that are met for the first time ever more rarely: 100·(1 − e^(−k/150)) of them. */
static uint64_t ever_fewer(uint32_t period, void *arg)
{
    double left = 1;

    (void)arg;
    for (uint32_t k = FIRST; k <= period; k++)
        left *= 1 - 1 / 150.0;
    return period < FIRST ? 0 : (uint64_t)(100 * (1 - left));
}

static uint64_t in_jumps(uint32_t period, void *arg)
{
    return period < FIRST ? 0 : 4 * (1 + (period - FIRST) / *(uint32_t *)arg);
}

static uint64_t until(uint32_t period, void *arg)
{
    uint32_t end = *(uint32_t *)arg;

    return period < FIRST ? 0 : (period < end ? period : end) - FIRST + 1;
}

/* A first burst, and then one a step. */
static uint64_t burst_and_pace(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0
                          : period - FIRST + 1 + (period < FIRST + 30 ? 2 * (period - FIRST) : 60);
}

/* ---- by time ------------------------------------------------------------------------------- */

/* A compiler's code, and a list of the user's. */
TEST(what_a_library_makes_is_not_accused_by_time_alone, .to = 2)
{
    struct ramp r = {FIRST, UINT32_MAX, 4, UINT32_MAX};

    builder_level(
        &b, _i ? line() : below(0, "/usr/lib/python3/dist-packages/jaxlib/compiler.py", "emit", 9),
        0, 8192, LAST, ramp, &r);
    job->processes[0].steps = 0;
    if (_i)
        only("unbounded-growth", "leak", LINE);
    else
        nobody_is_accused();
}

/* ---- after the training ------------------------------------------------------------------------
 */

TEST(what_begins_after_the_training_may_be_gathered_once, .to = 3)
{
    const uint32_t trained[] = {0, STEPS / 4, STEPS / 4 + 30};
    struct ramp r = {FIRST + STEPS / 4, UINT32_MAX, 1, UINT32_MAX};

    job->processes[0].trained_steps = trained[_i];
    builder_level(&b, line(), 0, BLOCK, LAST, ramp, &r);
    if (_i == 1)
        is_open("after the last training step");
    else
        only("unbounded-growth", "leak", LINE);
}

/* Too little of the whole run to be seen in it, and its pace is that of its own steps. */
TEST(what_begins_late_after_the_training_is_judged_by_its_own_steps)
{
    struct ramp r = {LAST - STEPS / 8, UINT32_MAX, 1, UINT32_MAX};

    job->processes[0].trained_steps = STEPS - STEPS / 8;
    builder_level(&b, line(), 0, BLOCK, LAST, ramp, &r);
    is_open("after the last training step");
}

/* ---- what is open -------------------------------------------------------------------------- */

TEST(what_comes_ever_more_rarely_may_end)
{
    builder_level(&b, line(), 0, BLOCK, LAST, ever_fewer, NULL);
    is_open("It slows down");
}

TEST(what_keeps_its_pace_after_a_burst_does_not)
{
    builder_level(&b, line(), 0, BLOCK, LAST, burst_and_pace, NULL);
    only("unbounded-growth", "leak", LINE);
}

TEST(a_few_jumps_are_no_pace)
{
    uint32_t every = 30;

    builder_level(&b, line(), 0, BLOCK, LAST, in_jumps, &every);
    is_open("a few jumps");
}

TEST(many_jumps_are_one)
{
    uint32_t every = 10;

    builder_level(&b, line(), 0, BLOCK, LAST, in_jumps, &every);
    only("unbounded-growth", "leak", LINE);
}

TEST(what_has_just_stopped_may_have_ended)
{
    uint32_t end = LAST - 30;

    builder_level(&b, line(), 0, BLOCK, LAST, until, &end);
    is_open("has not grown in the last steps");
}

/* A step's worth of blocks is missing at the end, no more. */
TEST(a_pause_like_others_before_is_no_end)
{
    uint32_t every = 15;

    builder_level(&b, line(), 0, BLOCK, LAST, in_jumps, &every);
    only("unbounded-growth", "leak", LINE);
}

/* In jumps of twelve steps each; then nothing for two and a half times as long, or for three and a
 * half times. */
static uint64_t jumps_until(uint32_t period, void *arg)
{
    const uint32_t end = *(uint32_t *)arg, at = period < end ? period : end;

    return period < FIRST ? 0 : 4 * (1 + (at - FIRST) / 12);
}

TEST(what_pauses_for_much_longer_than_ever_may_have_ended, .to = 2)
{
    uint32_t end = LAST - (_i ? 44 : 32);

    builder_level(&b, line(), 0, BLOCK, LAST, jumps_until, &end);
    if (_i)
        is_open("has not grown in the last steps");
    else
        is_open("It slows down");
}

/* All of it in one block, and an eighth more beside it; or too much for that. */
TEST(what_is_made_one_block_of_after_the_last_step_may_be_a_little_more, .to = 2)
{
    struct ramp each = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    struct ramp joined = {LAST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, line(), 0, BLOCK, LAST, ramp, &each);
    builder_level(&b, below(main_stack, "/home/user/train.py", "finish", 99), 0,
                  STEPS * BLOCK / 100 * (_i ? 119 : 112), LAST + 2, ramp, &joined);
    if (_i)
        only("unbounded-growth", "leak", LINE);
    else
        is_open("one block as large as all of it");
}

TEST(what_is_made_one_block_of_after_the_last_step_was_gathered_for_that)
{
    struct ramp each = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    struct ramp joined = {LAST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, line(), 0, BLOCK, LAST, ramp, &each);
    builder_level(&b, below(main_stack, "/home/user/train.py", "finish", 99), 0, STEPS * BLOCK,
                  LAST + 2, ramp, &joined);
    is_open("one block as large as all of it");
}

TEST(another_block_after_the_last_step_says_nothing)
{
    struct ramp each = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    struct ramp other = {LAST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, line(), 0, BLOCK, LAST, ramp, &each);
    builder_level(&b, below(main_stack, "/home/user/train.py", "finish", 99), 0, STEPS * BLOCK / 2,
                  LAST + 2, ramp, &other);
    only("unbounded-growth", "leak", LINE);
}

/* ---- streams ------------------------------------------------------------------------------- */

#define FETCH "/usr/lib/python3/dist-packages/torch/utils/data/_utils/fetch.py"

static uint32_t drawn_by(const char *fetcher)
{
    uint32_t fetch = below(main_stack, FETCH, fetcher, 30);
    uint32_t draws = below(fetch, "/home/user/data.py", "__iter__", 41);

    return below(draws, "/home/user/data.py", "decode", LINE);
}

/* Other blocks of the same site live for a few steps only. */
static void pass_on(uint32_t site, uint64_t n)
{
    struct seep_site *s = builder_at(&b, site);

    s->allocations += n;
    s->allocated_bytes += n * BLOCK;
    s->frees += n;
    s->freed_bytes += n * BLOCK;
}

/* No pass ends, and no worker lives for a second one. */
TEST(a_stream_that_is_all_kept_has_no_end)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    add_epochs(1, STEPS);
    uint32_t stack = drawn_by("_IterableDatasetFetcher.fetch");
    builder_level(&b, stack, 0, BLOCK, LAST, ramp, &r);
    transient(builder_stack(&b, stack, builder_native(&b, "/usr/lib/libnumpy.so", NULL, 32)), 0,
              2 * BLOCK, 2 * STEPS, 0, 0);
    const json_t *f = only("unbounded-growth", "leak", LINE);
    char *all = json_dumps(f, 0);
    ck_assert_msg(strstr(all, "comes as a stream") != NULL, "%s", all);
    free(all);
}

TEST(a_buffer_that_fills_gives_away_as_it_does)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    uint32_t stack = drawn_by("_IterableDatasetFetcher.fetch");

    add_epochs(1, STEPS);
    pass_on(builder_level(&b, stack, 0, BLOCK, LAST, ramp, &r), 2 * STEPS);
    is_open("no step past the first epoch");
}

TEST(a_buffer_that_is_full_soon_is_no_stream_that_is_kept)
{
    uint32_t end = FIRST + 60;

    add_epochs(1, STEPS);
    builder_level(&b, drawn_by("_IterableDatasetFetcher.fetch"), 0, BLOCK, LAST, until, &end);
    nobody_is_accused();
}

TEST(a_stream_that_was_drawn_from_for_few_steps_may_fill_a_buffer, .to = 2)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    const uint32_t steps = _i ? 130 : 80;

    job->processes[0].steps = steps;
    add_epochs(1, steps);
    builder_level(&b, drawn_by("_IterableDatasetFetcher.fetch"), 0, BLOCK, FIRST + steps, ramp, &r);
    if (_i)
        only("unbounded-growth", "leak", LINE);
    else
        is_open("no step past the first epoch");
}

TEST(items_with_a_number_may_all_be_kept_once)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    add_epochs(1, STEPS);
    builder_level(&b, drawn_by("_MapDatasetFetcher.fetch"), 0, BLOCK, LAST, ramp, &r);
    is_open("no step past the first epoch");
}

/* ---- crumbs -------------------------------------------------------------------------------- */

TEST(crumbs_are_no_finding)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_header(&b)->limit_ram_bytes = UINT64_C(12) << 30;
    builder_level(&b, line(), 0, 1000, LAST, ramp, &r);
    nobody();
}

TEST(crumbs_that_fill_the_memory_in_a_run_are)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_header(&b)->limit_ram_bytes = UINT64_C(9) << 30;
    builder_level(&b, line(), 0, 1000, LAST, ramp, &r);
    only("unbounded-growth", "leak", LINE);
}

/* ---- too far ------------------------------------------------------------------------------- */

/* In two thousand steps, or slices of time, it comes to more than crumbs. */
static const struct {
    uint64_t each, ram_gib; /* each: bytes a step, or slice */
    bool timed, is_leak;
    uint32_t steps;          /* 0: two thousand */
    uint64_t steps_a_period; /* of a tenth of a second */
} paces[] = {{900, 120, false, false, 0, 1},     {900, 64, false, true, 0, 1},
             {1100, 4096, false, true, 0, 1},    {900, 120, false, false, 0, 120}, /* 33 hours */
             {900, 120, false, true, 0, 180},                                      /* 22 */
             {900, 2300, true, true, 0, 1},                                        /* nine years */
             {900, 3200, true, false, 0, 1},                                       /* twelve */
             {900, 106, false, true, 150000, 1}, /* a job that is far on, too */
             {900, 151, false, false, 150000, 1}};

TEST(what_no_run_would_come_to_is_no_finding, .to = N(paces))
{
    const uint32_t many = paces[_i].steps ? paces[_i].steps : 2000;
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    struct seep_profile *p = NULL;

    builder_header(&b)->limit_ram_bytes = paces[_i].ram_gib << 30;
    builder_level(&b, line(), 0, paces[_i].each, FIRST + many, ramp, &r);
    job->processes[0].steps = paces[_i].timed ? 0 : many;
    builder_timeline(&b, FIRST + many, UINT64_C(300) << 20);
    builder_header(&b)->end_ns = builder_header(&b)->last_ns =
        builder_header(&b)->start_ns + many * UINT64_C(100000000) / paces[_i].steps_a_period;
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_analyse_profiles(&p, 1, job, NULL, &report, NULL), 0);
    const json_t *list = json_object_get(report, "findings");
    ck_assert_uint_eq(json_array_size(list), paces[_i].is_leak);
    if (paces[_i].is_leak)
        ck_assert_str_eq(text(json_array_get(list, 0), "severity"), "leak");
}

/* ---- numbers ------------------------------------------------------------------------------- */

/* A block of the least size that PyTorch gives, or of more, a step; the GPU's room. */
static const struct {
    uint64_t each, room; /* bytes, MiB */
    bool is_leak;
} numbers[] = {{512, 8000, false},
               {512, 1200, false},
               {512, 800, true},
               {700, 2000, true},
               {1000, 8000, true}};

TEST(a_number_of_each_step_on_a_gpu_is_no_leak, .to = N(numbers))
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    if (numbers[_i].each > 512)
        r.each = 1;
    builder_header(&b)->devices.use[0] =
        (struct seep_device_use){.capacity_bytes = numbers[_i].room * MIB, .looks = 3};
    builder_level(&b, line(), TENSOR_0, numbers[_i].each, LAST, ramp, &r);
    if (numbers[_i].is_leak)
        only("unbounded-growth", "leak", LINE);
    else
        nobody();
}

/* ---- what a library fills once --------------------------------------------------------------- */

/* By the code that asks for them, their size and how much they are beside 300 MiB. */
static const struct {
    const char *module;
    uint64_t each, blocks; /* bytes; blocks a step */
    bool is_leak;
} fillings[] = {{"/usr/lib/python3/dist-packages/duckdb/_duckdb.so", 840, 50, false},
                {"/usr/lib/python3/dist-packages/duckdb/_duckdb.so", 840, 90, true},
                {"/usr/lib/python3/dist-packages/duckdb/_duckdb.so", 4800, 2, true},
                {"/home/user/decoder.so", 840, 50, true}};

TEST(a_librarys_queue_that_is_little_may_fill, .to = N(fillings))
{
    struct ramp r = {FIRST, UINT32_MAX, fillings[_i].blocks, UINT32_MAX};
    const uint32_t frame = builder_native(&b, fillings[_i].module, NULL, 1);

    builder_level(&b, builder_stack(&b, line(), frame), HOST, fillings[_i].each, LAST, ramp, &r);
    if (fillings[_i].is_leak)
        only("unbounded-growth", "leak", LINE);
    else
        is_open("It is little beside what the job takes");
}

SUITE("prospect", .setup = setup, .teardown = teardown)
