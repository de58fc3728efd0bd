/* What a job keeps: data that is loaded up front, and caches that fill with the first epoch. */
#include "tests/verdict/pattern_fixture.h"

enum { IMAGE = 4 * 3 * 500 * 500 };

/* ---- eager-retention ------------------------------------------------------------------------- */

TEST(cameras_loaded_up_front_are_eager_retention, .to = 2)
{
    struct ramp r = {2, 9, 3, _i ? LAST : UINT32_MAX}; /* with and without the job's teardown */
    uint32_t stack = below(main_stack, "/home/user/cameras.py", "load_camera", 33);

    builder_level(&b, stack, 0, IMAGE, LAST, ramp, &r);
    const json_t *f = only("eager-retention", "retention", 33);
    ck_assert_str_eq(text(f, "part"), "camera");
    ck_assert_double_eq(number(f, "count"), 24);
    ck_assert_double_eq(number(f, "live_bytes"), 24 * IMAGE);
    ck_assert(json_is_null(json_object_get(f, "steps_to_limit")));
}

TEST(eager_blocks_made_within_one_slice_are_found_too)
{
    uint32_t stack = below(main_stack, "/home/user/data.py", "__getitem__", 12);

    builder_site(&b, stack, 0, 23, UINT64_C(23) * IMAGE, 0, 0, 9);
    const json_t *f = only("eager-retention", "retention", 12);
    ck_assert_double_eq(number(f, "count"), 23);
}

TEST(eager_blocks_that_the_teardown_frees_are_found_too)
{
    uint32_t stack = below(main_stack, "/home/user/data.py", "__getitem__", 12);
    uint32_t site =
        builder_site(&b, stack, 0, 23, UINT64_C(23) * IMAGE, 23, UINT64_C(23) * IMAGE, 9);
    struct seep_site *s = builder_at(&b, site);

    s->last_period = LAST;
    s->detail = 1; /* one further period, no detail yet */
    const json_t *f = only("eager-retention", "retention", 12);
    ck_assert_double_eq(number(f, "count"), 23);
    ck_assert_double_eq(number(f, "live_bytes"), 23 * IMAGE);
}

TEST(one_camera_per_step_is_nobodys_fault)
{
    uint32_t stack = below(main_stack, "/home/user/cameras.py", "load_camera", 33);

    builder_level(&b, stack, 0, IMAGE, LAST, one_in_flight, NULL);
    nobody();
}

/* Maps, of which a job has few: what is kept is all of them. */
TEST(less_than_256_kib_is_not_worth_a_word, .to = 2)
{
    struct ramp r = {2, 9, 3, UINT32_MAX};
    uint32_t stack = below(main_stack, "/home/user/cameras.py", "load_camera", 33);

    resident = 8 * MIB;
    builder_level(&b, stack, MMAP, (_i ? 16 : 8) * 1024, LAST, ramp, &r);
    if (_i)
        only("eager-retention", "retention", 33);
    else
        nobody();
}

/* 24 MiB of pictures are told where they are a thirtieth of what the process takes, or a fiftieth
 * of the machine's memory, and accused where they are a 256th of that, or a third of the process.
 */
static const struct {
    uint64_t resident_mib, ram_mib;
    const char *severity; /* NULL: not told */
} shares[] = {{710, 6200, "info"},     {710, 6100, "retention"}, {71, 65536, "retention"},
              {73, 65536, "info"},     {730, 65536, NULL},       {730, 1210, NULL},
              {730, 1190, "retention"}};

TEST(what_a_job_keeps_from_its_start_has_to_matter_to_it, .to = N(shares))
{
    struct ramp r = {2, 9, 3, UINT32_MAX};

    resident = shares[_i].resident_mib * MIB;
    builder_header(&b)->limit_ram_bytes = shares[_i].ram_mib * MIB;
    builder_level(&b, below(main_stack, "/home/user/cameras.py", "load_camera", 33), 0, MIB, LAST,
                  ramp, &r);
    if (shares[_i].severity)
        only("eager-retention", shares[_i].severity, 33);
    else
        nobody();
}

/* Of no dataset's line: items of a kind are about as large as each other, whether that was seen of
 * each (least and most) or of all together. */
static const struct {
    uint64_t least, all; /* per cent of the largest */
    bool eager;
} sizes[] = {{83, 92, true}, {67, 84, false}, {100, 80, true}, {100, 67, false}};

TEST(items_of_one_kind_have_about_one_size, .to = N(sizes))
{
    struct ramp r = {2, 9, 3, UINT32_MAX};
    uint32_t site = builder_level(&b, user(33), 0, IMAGE / 100 * sizes[_i].all, LAST, ramp, &r);
    struct seep_site *s = builder_at(&b, site);
    struct seep_detail *d = builder_at(&b, s->detail);

    d->min_bytes = IMAGE / 100 * sizes[_i].least;
    d->max_bytes = IMAGE;
    if (sizes[_i].eager)
        only("eager-retention", "retention", 33);
    else
        nobody();
}

TEST(equal_layers_of_a_model_are_not_eager_data)
{
    struct ramp r = {2, 9, 3, UINT32_MAX};
    uint32_t user = below(main_stack, "/home/user/model.py", "__init__", 20);
    uint32_t layer =
        below(user, "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", "__init__", 96);

    builder_level(&b, layer, 0, IMAGE, LAST, ramp, &r);
    nobody();
}

/* trainer.train() is one line for all that it makes: batches, and the network. */
TEST(layers_of_a_model_are_not_eager_data_on_a_line_that_makes_more, .to = 2)
{
    struct ramp r = {2, 9, 3, UINT32_MAX};
    const char *trainer = "/usr/lib/python3/dist-packages/someframework/trainer.py";
    const char *linear = "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py";
    uint32_t run = below(below(main_stack, "/home/user/run.py", "main", 45), trainer, "run", 20);

    builder_level(&b, below(run, trainer, "go_on", 30), 0, 100 * IMAGE, LAST, one_in_flight, NULL);
    builder_level(&b, below(run, _i ? trainer : linear, "__init__", 96), 0, IMAGE, LAST, ramp, &r);
    if (_i)
        only("eager-retention", "retention", 45);
    else
        nobody();
}

TEST(what_imports_keep_is_not_a_finding)
{
    struct ramp r = {2, 9, 3, UINT32_MAX};
    uint32_t import = below(main_stack, "<frozen importlib._bootstrap>", "_find_and_load", 1176);

    builder_level(&b, below(import, "/home/user/data.py", "<module>", 5), 0, IMAGE, LAST, ramp, &r);
    nobody();
}

TEST(one_big_buffer_is_not_a_row_of_items)
{
    builder_site(&b, below(main_stack, "/home/user/data.py", "load", 7), 0, 1, 256 << 20, 0, 0, 3);
    nobody();
}

/* ---- caches ---------------------------------------------------------------------------------- */

TEST(growth_that_ends_with_the_epoch_and_frees_nothing_is_a_first_touch_cache, .to = 2)
{
    struct ramp r = {FIRST, FIRST + 49, 8, _i ? LAST : UINT32_MAX};

    add_epochs(4, 50);
    builder_level(&b, below(main_stack, "/home/user/data.py", "__getitem__", 40), 0, 65536, LAST,
                  ramp, &r);
    const json_t *f = only("first-touch-cache", "retention", 40);
    ck_assert_double_eq(number(f, "count"), 400);
    ck_assert_double_eq(number(f, "live_bytes"), 400 * 65536);
    ck_assert_double_eq_tol(number(f, "plateau_step"), 50, 3);
}

/* Beside a model of 1.7 GiB and one of 3.4 GiB a cache of 25 MiB is something, and nothing. */
TEST(a_cache_that_is_a_hundredth_of_the_peak_is_something, .to = 2)
{
    struct ramp r = {FIRST, FIRST + 49, 8, UINT32_MAX};

    builder_site(&b, builder_stack(&b, 0, builder_native(&b, "/usr/lib/libtorch.so", NULL, 65)), 0,
                 1, (_i ? 1700 : 3400) * (uint64_t)MIB, 0, 0, 2);
    builder_level(&b, below(main_stack, "/home/user/data.py", "__getitem__", 40), 0, 65536, LAST,
                  ramp, &r);
    if (_i)
        only("first-touch-cache", "retention", 40);
    else
        nobody();
}

/* As the annotation cache does: from epoch 2 on each new block takes an old one's place. */
TEST(growth_that_turns_over_each_epoch_is_an_aliased_cache)
{
    struct ramp r = {FIRST, FIRST + 49, 8, UINT32_MAX};

    add_epochs(4, 50);
    uint32_t site = builder_level(&b, below(main_stack, "/home/user/data.py", "collate", 40), 0,
                                  65536, LAST, ramp, &r);
    struct seep_site *s = builder_at(&b, site);
    struct seep_detail *d = builder_at(&b, s->detail);
    s->allocations += 1200;
    s->allocated_bytes += 1200 * 65536;
    s->frees += 1200;
    s->freed_bytes += 1200 * 65536;
    d->lifetimes[seep_lifetime_bucket(50)] = 1200;
    const json_t *f = only("aliased-cache", "retention", 40);
    ck_assert_double_eq(number(f, "count"), 400);
}

/* ---- in workers ------------------------------------------------------------------------------ */

#define LOADER "/usr/lib/python3/dist-packages/torch/utils/data/_utils/"

static struct builder worker;

static uint32_t in_worker(const char *function, unsigned line)
{
    uint32_t loop =
        builder_stack(&worker, 0, builder_python(&worker, LOADER "worker.py", "_worker_loop", 302));
    uint32_t fetch =
        builder_stack(&worker, loop, builder_python(&worker, LOADER "fetch.py", "fetch", 54));

    return builder_stack(&worker, fetch,
                         builder_python(&worker, "/home/user/data.py", function, line));
}

static void begin_worker(void)
{
    builder_timeline(&b, LAST, UINT64_C(300) << 20);
    builder_init(&worker, 200, START + 500000000);
}

/* Collate writes its tensors into the data set's dicts: what has gone to the trainer stays, in one
 * epoch already. */
TEST(what_collate_has_sent_and_a_worker_keeps_is_an_aliased_cache)
{
    struct ramp r = {FIRST, UINT32_MAX, 8, UINT32_MAX};

    add_epochs(1, STEPS);
    begin_worker();
    builder_level(&worker, in_worker("collate", 31), SHM, 65536, LAST, ramp, &r);
    const json_t *list = findings_with(&worker, LAST, 0), *f = json_array_get(list, 0);
    ck_assert_uint_eq(json_array_size(list), 1);
    ck_assert_str_eq(text(f, "pattern"), "aliased-cache");
    ck_assert_str_eq(text(f, "severity"), "retention");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), 31);
}

/* The same of memory that nobody else has: it may be a cache that collate fills. */
TEST(what_collate_keeps_for_itself_is_undetermined_in_one_epoch)
{
    struct ramp r = {FIRST, UINT32_MAX, 8, UINT32_MAX};

    add_epochs(1, STEPS);
    begin_worker();
    builder_level(&worker, in_worker("collate", 31), HOST, 65536, LAST, ramp, &r);
    const json_t *list = findings_with(&worker, LAST, 0);
    ck_assert_str_eq(text(json_array_get(list, 0), "pattern"), "undetermined");
}

/* Batches wait for the trainer: as many as are fetched ahead. */
TEST(batches_that_were_sent_and_wait_are_not_kept)
{
    struct ramp r = {FIRST, FIRST + 8, 8, UINT32_MAX};

    add_epochs(1, STEPS);
    begin_worker();
    uint32_t site = builder_level(&worker, in_worker("collate", 31), SHM, 65536, LAST, ramp, &r);
    struct seep_site *s = builder_at(&worker, site);
    struct seep_detail *d = builder_at(&worker, s->detail);
    s->allocations += 8 * STEPS;
    s->allocated_bytes += 8 * STEPS * 65536;
    s->frees += 8 * STEPS;
    s->freed_bytes += 8 * STEPS * 65536;
    d->lifetimes[seep_lifetime_bucket(8)] = 8 * STEPS;
    const json_t *list = findings_with(&worker, LAST, 0), *f;
    size_t i;
    json_array_foreach (list, i, f)
        ck_assert_str_ne(text(f, "severity"), "retention");
}

TEST(optimizer_state_that_fills_is_not_a_cache)
{
    struct ramp r = {FIRST, FIRST + 49, 8, UINT32_MAX};

    add_epochs(4, 50);
    builder_level(
        &b, below(main_stack, "/usr/lib/python3/dist-packages/torch/optim/adam.py", "step", 9), 0,
        65536, LAST, ramp, &r);
    nobody();
}

SUITE("kept", .setup = setup, .teardown = teardown)
