/* Which line is accused, and what is said about several lines. */
#include "libprof/report_read/holder_view.h"
#include "tests/verdict/pattern_fixture.h"

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
    {"/home/user/model.py", "/home/user/seep/build/python/seep/__init__.py"},
    {"/home/user/model.py", "so:/opt/conda/lib/libtbb.so.12"},
    {"/home/user/model.py", "so:/usr/local/cuda/lib64/libcudart.so"},
};

TEST(the_line_to_look_at_is_one_that_the_user_wrote, .to = N(owners))
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
    ck_assert_str_eq(text(json_object_get(only("unbounded-growth", "leak", 77), "frame"), "file"),
                     owners[_i].file);
}

TEST(the_line_is_the_users_not_the_librarys)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    uint32_t user = below(main_stack, "/home/user/train.py", "remember", 77);
    uint32_t library =
        below(user, "/usr/lib/python3/dist-packages/torch/functional.py", "stack", 9);
    uint32_t standard = below(library, "/usr/lib/python3.11/copy.py", "deepcopy", 128);
    uint32_t native =
        builder_stack(&b, standard, builder_native(&b, "/usr/lib/libc10.so", NULL, 5));

    builder_level(&b, native, 0, 8192, LAST, ramp, &r);
    only("unbounded-growth", "leak", 77);
}

TEST(native_growth_names_the_programs_own_code)
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

#define PLUGIN "/home/user/.venv/lib/python3.11/site-packages/fastcodec/../fastcodec/libcodec.so"

/* In a thread of a library: its own code is to be looked at, not the runtime that it asks; where it
 * has no names all of it is one line. _i: whether the job is one of Python's. */
TEST(a_threads_memory_is_its_librarys, .to = 2)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    const uint32_t start = builder_stack(&b, 0, builder_native(&b, "/usr/lib/libc.so.6", NULL, 9));

    builder_header(&b)->python_version = _i ? 0x030b00f0 : 0;
    for (uint64_t i = 0; i < 3; i++) {
        uint32_t stack = builder_stack(&b, start, builder_native(&b, PLUGIN, NULL, 64 + i));
        stack = builder_stack(&b, stack, builder_native(&b, "/usr/lib/libstdc++.so.6", NULL, 7));
        builder_level(&b, stack, 0, 8192, LAST, ramp, &r);
    }
    const json_t *list = findings(), *f = json_array_get(list, 0);
    const json_t *caller = json_object_get(f, "native_caller");
    ck_assert_uint_eq(json_array_size(list), 1);
    ck_assert_str_eq(text(json_object_get(f, "frame"), "module"), PLUGIN);
    ck_assert_int_eq(json_is_object(caller), _i);
    const struct seep_report_finding finding = seep_report_finding_read(f);
    char *place = seep_get_finding_place(&finding, "");
    if (_i) {
        ck_assert_str_eq(text(caller, "library"), "libcodec.so");
        ck_assert_str_eq(text(caller, "package"), "fastcodec");
        ck_assert(json_is_null(json_object_get(caller, "version")));
    }
    ck_assert_str_eq(place, _i ? "libcodec.so+0x40 (fastcodec, in a thread without Python)"
                               : "libcodec.so+0x40");
    free(place);
}

TEST(what_python_calls_is_no_thread_of_a_librarys)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};
    const uint32_t user = below(main_stack, "/usr/lib/python3.11/threading.py", "run", 77);

    builder_header(&b)->python_version = 0x030b00f0;
    builder_level(&b, builder_stack(&b, user, builder_native(&b, PLUGIN, NULL, 64)), 0, 8192, LAST,
                  ramp, &r);
    const json_t *f = json_array_get(findings(), 0);
    ck_assert_ptr_nonnull(f);
    ck_assert(json_is_null(json_object_get(f, "native_caller")));
}

TEST(sites_of_one_line_are_one_finding)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    uint32_t user = below(main_stack, "/home/user/train.py", "remember", 77);

    for (uint64_t i = 0; i < 4; i++) {
        uint32_t stack = builder_stack(&b, user, builder_native(&b, "/usr/lib/libc10.so", NULL, i));
        builder_level(&b, stack, (unsigned)i % 2, 8192, LAST, ramp, &r);
    }
    const json_t *f = only("unbounded-growth", "leak", 77);
    ck_assert_double_eq_tol(number(json_object_get(f, "growth_bytes_per_step"), "value"), 4 * 8192,
                            800);
    ck_assert_uint_eq(json_array_size(json_object_get(f, "sites")), 4);
}

/* Beside what is made and what lies around it, one that has a part of its bytes. */
TEST(what_has_a_quarter_of_the_main_sites_bytes_is_counted, .to = 2)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    const uint64_t bytes[] = {8192, 8192, _i ? 8192 * 28 / 100 : 8192 * 20 / 100};
    const uint32_t user = below(main_stack, "/home/user/train.py", "remember", 77);

    for (uint64_t i = 0; i < N(bytes); i++)
        builder_level(&b,
                      builder_stack(&b, user, builder_native(&b, "/usr/lib/libc10.so", NULL, i)),
                      HOST, bytes[i], LAST, ramp, &r);
    ck_assert_uint_eq(
        json_array_size(json_object_get(only("unbounded-growth", "leak", 77), "sites")),
        2u + (_i > 0));
}

/* ---- messages of other processes ------------------------------------------------------------- */

#define PYTHON "/usr/lib/python3.11/"

enum { RESULT = 100 * 1024 };

/* What a pool's worker makes in every step, frees, and has sent by then. */
static void makes(struct builder *worker, unsigned line, uint64_t n, uint64_t bytes)
{
    const uint32_t task =
        builder_stack(worker, 0, builder_python(worker, "/home/user/render.py", "render", line));

    builder_site(worker, task, HOST, n, n * bytes, n, n * bytes, FIRST);
}

/* What the worker makes to send a result, below the trainer's line that forked it. */
static void sends(struct builder *worker, uint64_t n, uint64_t bytes)
{
    const uint32_t line =
        builder_stack(worker, 0, builder_python(worker, "/home/user/train.py", "work", 90));
    const uint32_t dumps = builder_stack(
        worker, line, builder_python(worker, PYTHON "multiprocessing/reduction.py", "dumps", 51));

    builder_site(worker, dumps, HOST, n, n * bytes, n, n * bytes, FIRST);
}

/* The line that is accused of results that the trainer keeps, when a worker makes such blocks. */
static const json_t *accused_of_results(uint64_t n, uint64_t bytes)
{
    static struct builder worker;
    struct ramp r = {FIRST, UINT32_MAX, 4, UINT32_MAX};
    const uint32_t handler = below(0, PYTHON "multiprocessing/pool.py", "_handle_results", 579);

    builder_level(&b, below(handler, PYTHON "multiprocessing/connection.py", "recv", 250), HOST,
                  RESULT, LAST, ramp, &r);
    builder_timeline(&b, LAST, UINT64_C(300) << 20);
    builder_init(&worker, 200, START + 500000000);
    makes(&worker, 12, 3 * n, bytes); /* on its way to the result */
    makes(&worker, 14, n, bytes);
    sends(&worker, n, bytes);
    builder_site(&b, user(90), HOST, 1, 64, 0, 0, FIRST);
    makes(&worker, 13, n, bytes); /* for the result, too: it is the last one that is sent */
    return json_array_get(findings_with(&worker, LAST, 0), 0);
}

/* A header makes what is sent a little larger. */
TEST(what_came_by_messages_is_the_line_s_that_made_it, .to = 2)
{
    const json_t *f = accused_of_results(4 * STEPS, _i ? RESULT + RESULT * 3 / 100 : RESULT);

    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), 14);
    ck_assert_ptr_nonnull(strstr(text(f, "title"), "(in another process)"));
}

static const struct {
    uint64_t n, bytes;
} others[] = {
    {4 * STEPS, RESULT + RESULT / 20}, /* of another size */
    {4 * STEPS / 5, RESULT},           /* too few, also of the line that makes most */
    {4 * STEPS, 2048},
};

TEST(a_line_that_makes_something_else_sent_nothing, .to = N(others))
{
    const json_t *f = accused_of_results(others[_i].n, others[_i].bytes);

    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), 250);
}

/* What a line makes beside its items: much of it, or of a size like theirs, is counted, headers and
 * storages around them are not. */
static const struct {
    uint64_t each, a_step; /* beside one block of 60,000 bytes a step; 0: now and then */
    size_t sites;
} beside[] = {{500, 40, 2},  {500, 20, 1},  {40000, 0, 2},
              {20000, 0, 1}, {90000, 0, 2}, {180000, 0, 1}};

static uint64_t now_and_then(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 0 : 1 + (period - FIRST) / 20;
}

TEST(what_is_made_around_the_items_is_not_counted, .to = N(beside))
{
    struct ramp item = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    struct ramp other = {FIRST, UINT32_MAX, beside[_i].a_step, UINT32_MAX};
    uint32_t line = user(77);

    builder_level(&b, below(line, "/usr/lib/python3/dist-packages/torch/_tensor.py", "data", 9), 0,
                  60000, LAST, ramp, &item);
    builder_level(&b, below(line, "/usr/lib/python3/dist-packages/torch/storage.py", "new", 5), 0,
                  beside[_i].each, LAST, beside[_i].a_step ? ramp : now_and_then, &other);
    const json_t *f = only("unbounded-growth", "leak", 77);
    ck_assert_uint_eq(json_array_size(json_object_get(f, "sites")), beside[_i].sites);
}

/* A compiler's cache: many small things by many ways, together more than the largest. */
TEST(what_is_made_in_many_sizes_is_counted_whole)
{
    enum { WAYS = 12, LARGE = 20000, SMALL = 400, A_STEP = 10 };
    struct ramp item = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    struct ramp other = {FIRST, UINT32_MAX, A_STEP, UINT32_MAX};
    const uint32_t line = user(77);

    builder_level(&b, below(line, "/usr/lib/python3/dist-packages/jax/core.py", "trace", 9), 0,
                  LARGE, LAST, ramp, &item);
    for (unsigned i = 0; i < WAYS; i++)
        builder_level(&b,
                      below(line, "/usr/lib/python3/dist-packages/jax/core.py", "lower", 20 + i), 0,
                      SMALL, LAST, ramp, &other);
    const json_t *f = only("unbounded-growth", "leak", 77);
    ck_assert_uint_eq(json_array_size(json_object_get(f, "sites")), 1 + WAYS);
    const double pace = number(json_object_get(f, "growth_bytes_per_step"), "value");
    ck_assert_double_eq_tol(number(f, "live_bytes"), pace * STEPS, 2 * pace);
}

/* A thread of a library's own that receives what other processes made; and a user who calls it. */
TEST(a_line_of_a_librarys_is_called_one, .to = 2)
{
    static const char *const begins[] = {"recv: ", "main: "};
    static const char *const library = " (in multiprocessing/connection.py)";
    struct ramp r = {FIRST, UINT32_MAX, 4, UINT32_MAX};

    builder_level(&b,
                  below(_i ? main_stack : 0, "/usr/lib/python3.11/multiprocessing/connection.py",
                        "recv", 250),
                  0, 8192, LAST, ramp, &r);
    const json_t *f = json_array_get(findings(), 0);
    ck_assert_msg(strncmp(text(f, "title"), begins[_i], strlen(begins[_i])) == 0, "%s",
                  text(f, "title"));
    ck_assert((strstr(text(f, "title"), library) != NULL) == !_i);
    ck_assert_str_eq(text(f, "part"), _i ? "other" : "library");
}

static uint64_t falling(uint32_t period, void *arg)
{
    (void)arg;
    return period < FIRST ? 2 * LAST : 2 * (LAST - period) + 1;
}

/* A pool: what one line of a function has put there, another replaces bit by bit. */
TEST(lines_that_exchange_blocks_are_nobodys_fault)
{
    struct ramp r = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    builder_level(&b, below(main_stack, "/home/user/train.py", "query", 77), 0, 8192, LAST, ramp,
                  &r);
    builder_level(&b, below(main_stack, "/home/user/train.py", "query", 74), 0, 8192, LAST, falling,
                  NULL);
    nobody();
}

TEST(the_largest_leak_comes_first_and_what_is_negligible_beside_it_is_left_out)
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

TEST(what_is_a_fiftieth_of_another_finding_of_its_function_is_negligible, .to = 2)
{
    struct ramp r = {FIRST, UINT32_MAX, 1, UINT32_MAX};
    const uint64_t small = _i ? (1 << 18) / 30 : (1 << 18) / 70;

    builder_level(&b, below(main_stack, "/home/user/a.py", "keep", 11), 0, small, LAST, ramp, &r);
    builder_level(&b, below(main_stack, "/home/user/a.py", "keep", 12), 0, 1 << 18, LAST, ramp, &r);
    ck_assert_uint_eq(json_array_size(findings()), _i ? 2 : 1);
}

SUITE("accused line", .setup = setup, .teardown = teardown)
