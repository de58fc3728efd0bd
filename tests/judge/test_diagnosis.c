/* Long, for it is a table of jobs. Verdicts on jobs whose truth is known: what is accused, where,
 * with which numbers, and who is not. */
#include "libprof/analysis.h"
#include "libprof/read/profile_read.h"
#include "tests/profile_builder.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

enum {
    FIRST = 10,
    STEPS = 200,
    LAST = FIRST + STEPS,
    IMAGE = 4 * 3 * 500 * 500,
    START = 1000000000
};

static struct builder b;
static struct seep_job *job;
static uint32_t main_stack; /* train.py:50 in main */
static json_t *report;

static void setup(void)
{
    builder_init(&b, 100, START);
    job = builder_job(100, START, STEPS, FIRST);
    main_stack = builder_stack(&b, 0, builder_python(&b, "/home/user/train.py", "main", 50));
    report = NULL;
}

static void teardown(void)
{
    json_decref(report);
    builder_fini(&b);
}

static uint32_t below(uint32_t stack, const char *file, const char *function, unsigned line)
{
    return builder_stack(&b, stack, builder_python(&b, file, function, line));
}

static void set_steps(uint32_t steps)
{
    job->processes[0].steps = steps;
    job->processes[0].period = FIRST + steps;
}

static void add_epochs(uint32_t n, uint32_t steps_each)
{
    struct seep_header *h = builder_header(&b);

    for (uint32_t i = 0; i < n; i++)
        h->epochs[i] =
            (struct seep_epoch_mark){.t_ns = START + i, .period = FIRST + i * steps_each};
    h->n_epochs = n;
    job->processes[0].epochs = n;
}

/* A steady gigabyte elsewhere would dwarf what is tested; 64 MiB of library make a job plausible.
 */
static const json_t *findings(void)
{
    struct seep_profile *p = NULL;
    uint32_t library = builder_stack(&b, 0, builder_native(&b, "/usr/lib/libtorch.so", NULL, 64));

    builder_site(&b, library, 0, 1, 64 << 20, 0, 0, 2);
    builder_timeline(&b, LAST, UINT64_C(300) << 20);
    ck_assert_int_eq(seep_profile_from_bytes("100-1.seep", b.bytes, b.n_bytes, &p, NULL), 0);
    ck_assert_int_eq(seep_analyse_profiles(&p, 1, job, NULL, &report, NULL), 0);
    return json_object_get(report, "findings");
}

static void nobody(void)
{
    const json_t *list = findings();
    char *text = json_dumps(list, JSON_INDENT(1));

    ck_assert_msg(json_array_size(list) == 0, "%s", text);
    free(text);
}

static const char *text(const json_t *finding, const char *key)
{
    const char *value = json_string_value(json_object_get(finding, key));

    return value ? value : "";
}

static double number(const json_t *finding, const char *key)
{
    return json_number_value(json_object_get(finding, key));
}

/* The only finding, of this pattern, on this line. */
static const json_t *only(const char *pattern, unsigned line)
{
    const json_t *list = findings(), *f = json_array_get(list, 0);
    char *all = json_dumps(list, JSON_INDENT(1));

    ck_assert_msg(json_array_size(list) == 1, "%s", all);
    ck_assert_msg(strcmp(text(f, "pattern"), pattern) == 0, "%s", all);
    ck_assert_msg(number(json_object_get(f, "frame"), "line") == line, "%s", all);
    free(all);
    return f;
}

/* ---- levels, in blocks, by period ---------------------------------------------------------- */

struct ramp {
    uint32_t from, to; /* periods */
    uint64_t each;     /* blocks a period */
    uint32_t end;      /* from here on none: the job's end frees all */
};

static uint64_t ramp(uint32_t period, void *arg)
{
    const struct ramp *r = arg;
    uint32_t until = period < r->to ? period : r->to;

    return period < r->from || period >= r->end ? 0 : (until - r->from + 1) * r->each;
}

static uint64_t sawtooth(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0 : 1 + period % 60;
}

static uint64_t one_in_flight(uint32_t period, void *arg)
{
    (void)arg;
    return period >= FIRST && period < LAST ? 2 - period % 2 : 0;
}

static uint64_t constant(uint32_t period, void *arg)
{
    (void)period;
    return *(uint64_t *)arg;
}

/* ---- eager-retention --------------------------------------------------------------------- */

START_TEST(cameras_loaded_up_front_are_eager_retention)
{
    struct ramp r = {2, 9, 3, _i ? LAST : UINT32_MAX}; /* with and without the job's teardown */
    uint32_t stack = below(main_stack, "/home/user/cameras.py", "load_camera", 33);

    builder_level(&b, stack, 0, IMAGE, LAST, ramp, &r);
    const json_t *f = only("eager-retention", 33);
    ck_assert_str_eq(text(f, "severity"), "retention");
    ck_assert_str_eq(text(f, "role"), "camera");
    ck_assert_double_eq(number(f, "count"), 24);
    ck_assert_double_eq(number(f, "live_bytes"), 24 * IMAGE);
    ck_assert(json_is_null(json_object_get(f, "steps_to_limit")));
}
END_TEST

START_TEST(eager_blocks_made_within_one_slice_are_found_too)
{
    uint32_t stack = below(main_stack, "/home/user/data.py", "__getitem__", 12);

    builder_site(&b, stack, 0, 23, UINT64_C(23) * IMAGE, 0, 0, 9);
    const json_t *f = only("eager-retention", 12);
    ck_assert_double_eq(number(f, "count"), 23);
}
END_TEST

START_TEST(eager_blocks_that_the_teardown_frees_are_found_too)
{
    uint32_t stack = below(main_stack, "/home/user/data.py", "__getitem__", 12);
    uint32_t site =
        builder_site(&b, stack, 0, 23, UINT64_C(23) * IMAGE, 23, UINT64_C(23) * IMAGE, 9);
    struct seep_site *s = builder_at(&b, site);

    s->last_period = LAST;
    s->detail = 1; /* one further period, no detail yet */
    const json_t *f = only("eager-retention", 12);
    ck_assert_double_eq(number(f, "count"), 23);
    ck_assert_double_eq(number(f, "live_bytes"), 23 * IMAGE);
}
END_TEST

START_TEST(one_camera_per_step_is_nobodys_fault)
{
    uint32_t stack = below(main_stack, "/home/user/cameras.py", "load_camera", 33);

    builder_level(&b, stack, 0, IMAGE, LAST, one_in_flight, NULL);
    nobody();
}
END_TEST

START_TEST(equal_layers_of_a_model_are_not_eager_data)
{
    struct ramp r = {2, 9, 3, UINT32_MAX};
    uint32_t user = below(main_stack, "/home/user/model.py", "__init__", 20);
    uint32_t layer =
        below(user, "/usr/lib/python3/dist-packages/torch/nn/modules/linear.py", "__init__", 96);

    builder_level(&b, layer, 0, IMAGE, LAST, ramp, &r);
    nobody();
}
END_TEST

START_TEST(what_imports_keep_is_not_a_finding)
{
    struct ramp r = {2, 9, 3, UINT32_MAX};
    uint32_t import = below(main_stack, "<frozen importlib._bootstrap>", "_find_and_load", 1176);

    builder_level(&b, below(import, "/home/user/data.py", "<module>", 5), 0, IMAGE, LAST, ramp, &r);
    nobody();
}
END_TEST

START_TEST(one_big_buffer_is_not_a_row_of_items)
{
    builder_site(&b, below(main_stack, "/home/user/data.py", "load", 7), 0, 1, 256 << 20, 0, 0, 3);
    nobody();
}
END_TEST

/* ---- growth ------------------------------------------------------------------------------ */

START_TEST(growth_without_an_end_is_unbounded)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    uint32_t stack = below(main_stack, "/home/user/train.py", "remember", 77);

    builder_header(&b)->limit_cgroup_bytes = UINT64_C(400) << 20;
    builder_header(&b)->limit_cgroup_version = 2;
    builder_header(&b)->limit_ram_bytes = UINT64_C(8) << 30;
    builder_level(&b, stack, 0, 8192, LAST, ramp, &r);
    const json_t *f = only("unbounded-growth", 77);
    const json_t *growth = json_object_get(f, "growth_bytes_per_step");
    ck_assert_str_eq(text(f, "severity"), "leak");
    ck_assert_double_eq_tol(number(growth, "value"), 16384, 400);
    ck_assert(number(growth, "low") <= number(growth, "value"));
    ck_assert(number(growth, "high") >= number(growth, "value"));
    ck_assert_double_eq(number(f, "limit_bytes"), 400 << 20);
    ck_assert_double_eq_tol(number(f, "steps_to_limit"), 100 * 64, 200);
    ck_assert(json_is_null(json_object_get(f, "plateau_step")));
    ck_assert_double_eq(number(f, "first_step"), 1);
}
END_TEST

/* An address space is not resident memory: 900 of 1,000 MiB of it are taken, 300 MiB are resident.
 */
START_TEST(each_limit_is_held_against_what_counts_towards_it)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    builder_header(&b)->limit_ram_bytes = UINT64_C(8) << 30;
    builder_header(&b)->limit_address_bytes = UINT64_C(1000) << 20;
    builder_header(&b)->address_bytes = UINT64_C(900) << 20;
    builder_level(&b, below(main_stack, "/home/user/train.py", "remember", 77), 0, 8192, LAST, ramp,
                  &r);
    const json_t *f = only("unbounded-growth", 77);
    ck_assert_double_eq(number(f, "limit_bytes"), 1000 << 20);
    ck_assert_double_eq_tol(number(f, "steps_to_limit"), 100 * 64, 200);
}
END_TEST

/* The line that a user wrote, whatever runs below it. */
static const struct {
    const char *file, *below; /* the line to look at, and what it calls */
} owners[] = {
    {"/home/user/build/python/train.py", NULL},
    {"/home/user/seep/python/train.py", NULL},
    {"/home/user/model.py", "<string>"},
    {"/home/user/model.py", "<eval_with_key>.7"},
    {"<string>", "/usr/lib/python3.11/json/encoder.py"},
    {"/home/user/model.py", "/opt/conda/lib/python3.11/site-packages/torch/nn/functional.py"},
    {"/home/user/model.py", "/home/user/seep/build/python/seep.py"},
    {"/home/user/model.py", "so:/opt/conda/lib/libmkl_core.so.2"},
    {"/home/user/model.py", "so:/usr/local/cuda/lib64/libcudart.so"},
};

START_TEST(the_line_to_look_at_is_one_that_the_user_wrote)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    const char *callee = owners[_i].below;
    uint32_t parent = owners[_i].file[0] == '<' ? 0 : main_stack; /* python -c */
    uint32_t stack = below(parent, owners[_i].file, "keep", 77);

    if (callee && strncmp(callee, "so:", 3) == 0)
        stack = builder_stack(&b, stack, builder_native(&b, callee + 3, NULL, 64));
    else if (callee)
        stack = below(stack, callee, "called", 5);
    builder_level(&b, stack, 0, 8192, LAST, ramp, &r);
    ck_assert_str_eq(text(json_object_get(only("unbounded-growth", 77), "frame"), "file"),
                     owners[_i].file);
}
END_TEST

static uint64_t falling(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 2 * LAST : 2 * (LAST - period) + 1;
}

/* A pool: what one line of a function has put there, another replaces bit by bit. */
START_TEST(lines_that_exchange_blocks_are_nobodys_fault)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    builder_level(&b, below(main_stack, "/home/user/train.py", "query", 77), 0, 8192, LAST, ramp,
                  &r);
    builder_level(&b, below(main_stack, "/home/user/train.py", "query", 74), 0, 8192, LAST, falling,
                  NULL);
    nobody();
}
END_TEST

START_TEST(growth_freed_by_the_jobs_end_is_growth)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, LAST};

    builder_level(&b, below(main_stack, "/home/user/train.py", "remember", 77), 0, 8192, LAST, ramp,
                  &r);
    const json_t *f = only("unbounded-growth", 77);
    ck_assert_double_eq(number(f, "count"), 2 * STEPS);
}
END_TEST

START_TEST(the_line_is_the_users_not_the_librarys)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    uint32_t user = below(main_stack, "/home/user/train.py", "remember", 77);
    uint32_t library =
        below(user, "/usr/lib/python3/dist-packages/torch/functional.py", "stack", 9);
    uint32_t standard = below(library, "/usr/lib/python3.11/copy.py", "deepcopy", 128);
    uint32_t native =
        builder_stack(&b, standard, builder_native(&b, "/usr/lib/libc10.so", NULL, 5));

    builder_level(&b, native, 0, 8192, LAST, ramp, &r);
    only("unbounded-growth", 77);
}
END_TEST

START_TEST(native_growth_names_the_programs_own_code)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    uint32_t outer = builder_stack(&b, 0, builder_native(&b, "/home/user/build/job", NULL, 0x40));
    uint32_t own = builder_stack(&b, outer, builder_native(&b, "/home/user/build/job", NULL, 0x80));
    uint32_t libc = builder_stack(&b, own, builder_native(&b, "/usr/lib/libc.so.6", NULL, 0x99));

    builder_level(&b, libc, 0, 8192, LAST, ramp, &r);
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 1);
    const json_t *frame = json_object_get(json_array_get(list, 0), "frame");
    ck_assert_str_eq(text(frame, "module"), "/home/user/build/job");
    ck_assert_double_eq(number(frame, "offset"), 0x80);
}
END_TEST

START_TEST(sites_of_one_line_are_one_finding)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    uint32_t user = below(main_stack, "/home/user/train.py", "remember", 77);

    for (uint64_t i = 0; i < 4; i++) {
        uint32_t stack = builder_stack(&b, user, builder_native(&b, "/usr/lib/libc10.so", NULL, i));
        builder_level(&b, stack, (unsigned)i % 2, 8192, LAST, ramp, &r);
    }
    const json_t *f = only("unbounded-growth", 77);
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), 4 * 8192,
                            800);
    ck_assert_uint_eq(json_array_size(json_object_get(f, "sites")), 4);
}
END_TEST

START_TEST(a_leak_beside_a_noisy_buffer_of_the_same_line_is_found)
{
    struct ramp r = {FIRST, UINT32_MAX, 4, UINT32_MAX};
    uint32_t user = below(main_stack, "/home/user/train.py", "remember", 77);
    uint32_t noisy = builder_stack(&b, user, builder_native(&b, "/usr/lib/libc10.so", NULL, 1));

    builder_level(&b, user, 0, 8192, LAST, ramp, &r);
    builder_level(&b, noisy, 0, 20000, LAST, one_in_flight, NULL);
    only("unbounded-growth", 77);
}
END_TEST

START_TEST(warm_up_is_no_growth)
{
    struct ramp r = {FIRST, FIRST + 6, 20, UINT32_MAX};

    builder_level(&b, below(main_stack, "/home/user/train.py", "warm", 61), 0, 8192, LAST, ramp,
                  &r);
    nobody();
}
END_TEST

START_TEST(a_cyclic_collectors_sawtooth_is_no_leak)
{
    builder_level(&b, below(main_stack, "/home/user/train.py", "cycle", 61), 0, 8192, LAST,
                  sawtooth, NULL);
    nobody();
}
END_TEST

START_TEST(a_steady_level_that_is_never_freed_is_no_leak)
{
    uint64_t blocks = 5;

    builder_level(&b, below(main_stack, "/home/user/train.py", "buffers", 61), 0, 1 << 20, LAST,
                  constant, &blocks);
    nobody();
}
END_TEST

START_TEST(a_trickle_is_not_worth_a_word)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, below(main_stack, "/home/user/train.py", "log", 61), 0, 100, LAST, ramp, &r);
    nobody();
}
END_TEST

/* ---- epochs ------------------------------------------------------------------------------ */

START_TEST(growth_within_the_first_epoch_is_undetermined)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    add_epochs(1, STEPS);
    builder_level(&b, below(main_stack, "/home/user/data.py", "collate", 40), 0, 32768, LAST, ramp,
                  &r);
    const json_t *f = only("undetermined", 40);
    ck_assert(number(f, "confidence") <= 0.5);
    ck_assert_int_ne(strstr(text(f, "advice"), "epoch") != NULL, 0);
}
END_TEST

START_TEST(growth_past_the_first_epoch_is_unbounded)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    add_epochs(4, 50);
    builder_level(&b, below(main_stack, "/home/user/data.py", "collate", 40), 0, 32768, LAST, ramp,
                  &r);
    only("unbounded-growth", 40);
}
END_TEST

START_TEST(growth_over_a_few_steps_is_undetermined)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    set_steps(10);
    builder_level(&b, below(main_stack, "/home/user/train.py", "keep", 40), 0, 1 << 20, FIRST + 10,
                  ramp, &r);
    only("undetermined", 40);
}
END_TEST

START_TEST(growth_that_ends_with_the_epoch_and_frees_nothing_is_a_first_touch_cache)
{
    struct ramp r = {FIRST, FIRST + 49, 8, _i ? LAST : UINT32_MAX};

    add_epochs(4, 50);
    builder_level(&b, below(main_stack, "/home/user/data.py", "__getitem__", 40), 0, 65536, LAST,
                  ramp, &r);
    const json_t *f = only("first-touch-cache", 40);
    ck_assert_double_eq(number(f, "count"), 400);
    ck_assert_double_eq(number(f, "live_bytes"), 400 * 65536);
    ck_assert_double_eq_tol(number(f, "plateau_step"), 50, 3);
}
END_TEST

/* As the annotation cache does: from epoch 2 on each new block takes an old one's place. */
START_TEST(growth_that_turns_over_each_epoch_is_an_aliased_cache)
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
    const json_t *f = only("aliased-cache", 40);
    ck_assert_double_eq(number(f, "count"), 400);
}
END_TEST

START_TEST(optimizer_state_that_fills_is_not_a_cache)
{
    struct ramp r = {FIRST, FIRST + 49, 8, UINT32_MAX};

    add_epochs(4, 50);
    builder_level(
        &b, below(main_stack, "/usr/lib/python3/dist-packages/torch/optim/adam.py", "step", 9), 0,
        65536, LAST, ramp, &r);
    nobody();
}
END_TEST

/* ---- several processes ------------------------------------------------------------------- */

/* A worker that leaks and ends some slices before the trainer does: it is found whenever that is.
 */
START_TEST(a_leaking_worker_is_found_whenever_it_ends)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    struct seep_profile *p[2];
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
    builder_timeline(&worker, LAST - 5, UINT64_C(100) << 20);
    builder_header(&worker)->process_plus_1 = 2;
    builder_header(&worker)->end_ns = builder_header(&b)->end_ns - (uint64_t)_i * 100000000;
    job->n_processes = 2;
    job->processes[1] =
        (struct seep_process){.pid = 200, .ppid = 100, .parent_plus_1 = 1, .follows = 1};
    ck_assert_int_eq(seep_profile_from_bytes("1.seep", b.bytes, b.n_bytes, &p[0], NULL), 0);
    ck_assert_int_eq(seep_profile_from_bytes("2.seep", worker.bytes, worker.n_bytes, &p[1], NULL),
                     0);
    ck_assert_int_eq(seep_analyse_profiles(p, 2, job, NULL, &report, NULL), 0);
    const json_t *list = json_object_get(report, "findings");
    ck_assert_uint_eq(json_array_size(list), 1);
    const json_t *f = json_array_get(list, 0);
    ck_assert_str_eq(text(f, "pattern"), "unbounded-growth");
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), 23);
    ck_assert_double_eq(json_number_value(json_array_get(json_object_get(f, "processes"), 0)), 200);
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), 16384,
                            700);
    builder_fini(&worker);
}
END_TEST

/* ---- order ------------------------------------------------------------------------------- */

START_TEST(the_largest_leak_comes_first_and_crumbs_beside_it_are_left_out)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    builder_level(&b, below(main_stack, "/home/user/a.py", "keep", 11), 0, 400, LAST, ramp, &r);
    builder_level(&b, below(main_stack, "/home/user/a.py", "keep", 12), 0, 1 << 18, LAST, ramp, &r);
    builder_level(&b, below(main_stack, "/home/user/b.py", "other", 13), 0, 1 << 14, LAST, ramp,
                  &r);
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_double_eq(number(json_object_get(json_array_get(list, 0), "frame"), "line"), 12);
    ck_assert_double_eq(number(json_object_get(json_array_get(list, 1), "frame"), "line"), 13);
    ck_assert_str_eq(text(json_array_get(list, 0), "id"), "F1");
}
END_TEST

START_TEST(without_steps_growth_is_by_time_and_says_so)
{
    struct ramp r = {1, UINT32_MAX, 2, UINT32_MAX};

    set_steps(0);
    job->processes[0].first_step_period = 0;
    builder_level(&b, below(main_stack, "/home/user/serve.py", "handle", 21), 0, 8192, LAST, ramp,
                  &r);
    only("unbounded-growth", 21);
    ck_assert_str_eq(text(json_object_get(report, "job"), "step_source"), "time");
}
END_TEST

/* A teardown of 2 s, slice by slice. */
static uint64_t ramp_and_back(uint32_t period, void *arg)
{
    uint32_t turn = LAST - 20;

    (void)arg;
    return period < turn   ? 2 * period
           : period < LAST ? (uint64_t)2 * turn * (LAST - period) / 20
                           : 0;
}

START_TEST(a_long_teardown_does_not_hide_growth_by_time)
{
    set_steps(0);
    job->processes[0].first_step_period = 0;
    builder_level(&b, below(main_stack, "/home/user/serve.py", "handle", 21), 0, 8192, LAST,
                  ramp_and_back, NULL);
    const json_t *f = only("unbounded-growth", 21);
    ck_assert_double_eq_tol(number(f, "count"), 2 * (LAST - 20), 8);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("diagnose");
    TCase *tcase = tcase_create("all");

    tcase_add_checked_fixture(tcase, setup, teardown);
    tcase_add_loop_test(tcase, cameras_loaded_up_front_are_eager_retention, 0, 2);
    tcase_add_test(tcase, eager_blocks_made_within_one_slice_are_found_too);
    tcase_add_test(tcase, eager_blocks_that_the_teardown_frees_are_found_too);
    tcase_add_test(tcase, one_camera_per_step_is_nobodys_fault);
    tcase_add_test(tcase, equal_layers_of_a_model_are_not_eager_data);
    tcase_add_test(tcase, what_imports_keep_is_not_a_finding);
    tcase_add_test(tcase, one_big_buffer_is_not_a_row_of_items);
    tcase_add_test(tcase, growth_without_an_end_is_unbounded);
    tcase_add_test(tcase, each_limit_is_held_against_what_counts_towards_it);
    tcase_add_loop_test(tcase, the_line_to_look_at_is_one_that_the_user_wrote, 0,
                        sizeof owners / sizeof *owners);
    tcase_add_test(tcase, lines_that_exchange_blocks_are_nobodys_fault);
    tcase_add_test(tcase, growth_freed_by_the_jobs_end_is_growth);
    tcase_add_test(tcase, the_line_is_the_users_not_the_librarys);
    tcase_add_test(tcase, native_growth_names_the_programs_own_code);
    tcase_add_test(tcase, sites_of_one_line_are_one_finding);
    tcase_add_test(tcase, a_leak_beside_a_noisy_buffer_of_the_same_line_is_found);
    tcase_add_test(tcase, warm_up_is_no_growth);
    tcase_add_test(tcase, a_cyclic_collectors_sawtooth_is_no_leak);
    tcase_add_test(tcase, a_steady_level_that_is_never_freed_is_no_leak);
    tcase_add_test(tcase, a_trickle_is_not_worth_a_word);
    tcase_add_test(tcase, growth_within_the_first_epoch_is_undetermined);
    tcase_add_test(tcase, growth_past_the_first_epoch_is_unbounded);
    tcase_add_test(tcase, growth_over_a_few_steps_is_undetermined);
    tcase_add_loop_test(
        tcase, growth_that_ends_with_the_epoch_and_frees_nothing_is_a_first_touch_cache, 0, 2);
    tcase_add_test(tcase, growth_that_turns_over_each_epoch_is_an_aliased_cache);
    tcase_add_test(tcase, optimizer_state_that_fills_is_not_a_cache);
    tcase_add_test(tcase, the_largest_leak_comes_first_and_crumbs_beside_it_are_left_out);
    tcase_add_test(tcase, without_steps_growth_is_by_time_and_says_so);
    tcase_add_loop_test(tcase, a_leaking_worker_is_found_whenever_it_ends, 0, 12);
    tcase_add_test(tcase, a_long_teardown_does_not_hide_growth_by_time);
    suite_add_tcase(suite, tcase);
    return suite_run(suite);
}
