/* What snapshots saw that nobody holds: it is accused at whatever pace it comes, who lost it is
 * named, and evidence, holder and advice of a finding are of one mind, whoever was seen to hold it.
 */
#include "libprof/report_read/holder_view.h"
#include "tests/verdict/beside_snapshots.h"
#include "tests/verdict/levels.h"
#include "tests/who/merge/made_up_snapshots.h"

#include <stdio.h>

enum { LINE = 77, BLOCK = 8192, LOOK = 190, EARLY = 60 };

static json_t *seen;
static uint32_t last; /* period */

static void setup_seen(void)
{
    setup();
    seen = snapshot(100, 0, LOOK);
    last = LAST;
}

static void teardown_seen(void)
{
    teardown();
    json_decref(seen);
}

static uint32_t line_of_user(void)
{
    return below(main_stack, "/home/user/train.py", "remember", LINE);
}

static json_t *line_in(const char *state)
{
    const int bytes = 4 * LOOK * BLOCK;
    json_t *line = add_line(seen, LINE, bytes, state);

    if (strcmp(state, "reference") == 0)
        json_object_set_new(line, "reference_bytes", json_integer(bytes));
    return line;
}

static void write_seen(const char *dir)
{
    write_snapshot(dir, LOOK, seen);
}

static const json_t *judged(void)
{
    return judged_beside(write_seen, last, UINT64_C(300) << 20);
}

/* ---- how it comes ---------------------------------------------------------------------------- */

static struct bend steady[] = {{1, 0}, {200, 800}, {0, 0}};
static struct bend slower[] = {{1, 0}, {20, 300}, {60, 480}, {110, 590}, {200, 680}, {0, 0}};
static struct bend level[] = {{1, 0}, {60, 700}, {200, 700}, {0, 0}};
static struct bend stops[] = {{1, 0}, {150, 700}, {200, 700}, {0, 0}};
static struct bend short_bursts[] = {{1, 0},     {50, 400}, {51, 10},   {100, 400}, {101, 10},
                                     {150, 400}, {151, 10}, {200, 400}, {0, 0}};
static struct bend at_once[] = {{1, 500}, {200, 500}, {0, 0}};
static struct bend *const shapes[] = {steady, slower, level, stops, short_bursts, at_once};

static void keep_in(struct bend *shape, uint32_t stack)
{
    builder_level(&b, stack, 0, BLOCK, LAST, drawn, shape);
}

TEST(what_is_lost_ever_more_slowly_is_a_leak)
{
    keep_in(slower, line_of_user());
    (void)line_in("lost");
    expect_finding(judged(), "unbounded-growth", "leak", "nothing points to it any more");
}

TEST(what_somebody_holds_ever_more_slowly_is_none)
{
    keep_in(slower, line_of_user());
    (void)add_path(line_in("held"), "history", "main.history", 480);
    ck_assert_str_ne(text(judged(), "severity"), "leak");
}

/* A library's work by time alone, early in the job: what it makes for itself looks the same, unless
 * nobody holds it. */
TEST(what_is_lost_is_a_leak_without_steps_too, .to = 2)
{
    struct ramp r = {1, UINT32_MAX, 4, UINT32_MAX};

    job->processes[0].steps = 0;
    job->processes[0].first_step_period = 0;
    builder_level(&b, line_of_user(), 0, BLOCK, EARLY, ramp, &r);
    if (_i)
        (void)line_in("lost");
    else
        (void)line_in("unknown");
    last = EARLY;
    const json_t *f = judged();
    ck_assert_str_eq(text(json_object_get(report, "job"), "step_source"), "time");
    ck_assert_int_eq(f && strcmp(text(f, "severity"), "leak") == 0, _i);
}

TEST(a_reference_that_was_never_given_back_is_told_from_lost_memory)
{
    keep_in(steady, line_of_user());
    (void)line_in("reference");
    const json_t *f = judged();
    expect_finding(f, "unbounded-growth", "leak",
                   "still counts a reference that was never given back");
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "Py_INCREF"));
}

TEST(most_of_it_is_enough, .to = 2)
{
    keep_in(steady, line_of_user());
    json_object_set_new(line_in("lost"), "lost_bytes",
                        json_integer(4 * LOOK * BLOCK / 10 * (_i ? 7 : 5)));
    const char *advice = text(judged(), "advice");
    ck_assert_int_eq(strstr(advice, "Free what this line") != NULL, _i);
}

/* A table that is there before step 1, and is held, does not hold what came later. Of 80 blocks
 * that nobody holds of 100 it is not known which they are: if 50 were there before, most of those
 * that came may be held. */
static const struct {
    int before, lost;
    bool is_lost;
} tables[] = {
    {200, 560, true}, {200, 440, false}, {440, 560, false}, {0, 470, true}, {0, 450, false}};

TEST(what_grew_decides_whether_it_is_lost, .to = N(tables))
{
    const int all = 4 * LOOK;
    struct bend shape[] = {{0, tables[_i].before}, {LOOK, all}, {200, all + 40}, {0, 0}};
    json_t *line;

    keep_in(shape, line_of_user());
    line = line_in("held");
    json_object_set_new(line, "lost_bytes", json_integer(tables[_i].lost * BLOCK));
    (void)add_path(line, "table", "main.table", 480);
    json_object_set_new(json_array_get(json_object_get(line, "paths"), 0), "bytes",
                        json_integer((all - tables[_i].lost) * BLOCK));
    json_object_set_new(line, "explained_bytes", json_integer((all - tables[_i].lost) * BLOCK));
    const json_t *f = judged(), *holders = json_object_get(f, "holders");
    ck_assert_str_eq(text(holders, "state"), tables[_i].is_lost ? "lost" : "held");
    ck_assert_uint_eq(json_array_size(json_object_get(holders, "paths")), !tables[_i].is_lost);
    ck_assert_int_eq(strstr(text(f, "advice"), "Free what this line") != NULL, tables[_i].is_lost);
}

/* Crumbs are none the larger for being lost. */
TEST(what_is_lost_and_small_is_no_leak)
{
    static struct bend crumbs[] = {{1, 0}, {20, 6}, {60, 9}, {110, 11}, {200, 12}, {0, 0}};

    keep_in(crumbs, line_of_user());
    (void)line_in("lost");
    ck_assert_str_ne(text(judged(), "severity"), "leak");
}

/* ---- who lost it ------------------------------------------------------------------------------
 */

#define NUMPY "/usr/lib/python3/dist-packages/numpy/"

static uint32_t in_numpy(void)
{
    uint32_t stack = below(line_of_user(), NUMPY "lib/polynomial.py", "roots", 220);

    stack = below(stack, NUMPY "lib/twodim_base.py", "diag", 300);
    stack = builder_stack(&b, stack, builder_native(&b, NUMPY "core/_multiarray.so", NULL, 64));
    return builder_stack(&b, stack, builder_native(&b, "/usr/bin/python3.11", NULL, 64));
}

TEST(who_lost_it_is_named_with_its_calls)
{
    keep_in(steady, in_numpy());
    (void)line_in("lost");
    const json_t *f = judged();
    expect_finding(f, "unbounded-growth", "leak", "Allocated in numpy: diag ← roots");
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "Upgrade numpy"));
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "diag ← roots"));
}

#define SCIPY "/usr/lib/python3/dist-packages/scipy/"

/* Whom the user's line calls, not whom that asks for an array; what comes with Python is nobody. */
static uint32_t in_scipy(bool by_python)
{
    uint32_t stack = below(line_of_user(), "/usr/lib/python3.11/functools.py", "wrapper", 9);

    stack = by_python ? below(stack, SCIPY "spatial/distance.py", "cdist", 220)
                      : builder_stack(&b, stack, builder_native(&b, SCIPY "_pybind.so", NULL, 64));
    return builder_stack(&b, stack, builder_native(&b, NUMPY "core/_multiarray.so", NULL, 64));
}

TEST(the_package_that_the_line_calls_is_named, .to = 4)
{
    keep_in(steady, in_scipy(_i % 2));
    (void)line_in(_i < 2 ? "lost" : "reference");
    const char *advice = text(judged(), "advice");
    ck_assert_msg(strstr(advice, _i < 2 ? "Upgrade scipy" : "starting with scipy"), "%s", advice);
}

static const struct {
    const char *module, *advice;
} modules[] = {
    {"/home/user/libdecode.so", "libdecode.so allocates it and nobody frees it"},
    {"/usr/lib/x86_64-linux-gnu/libdecode.so.2", "Upgrade libdecode.so.2"},
    {"/usr/lib/x86_64-linux-gnu/libc.so.6", "Free what this line allocates"},
    {"/home/user/.venv/lib/python3.11/site-packages/annoy/annoylib.so", "Upgrade annoy"},
    {"/home/user/.venv/lib/python3.11/site-packages/numpy.libs/libblas.so", "Upgrade numpy"},
};

TEST(an_installed_library_is_upgraded_and_an_own_one_mended, .to = N(modules))
{
    keep_in(steady,
            builder_stack(&b, line_of_user(), builder_native(&b, modules[_i].module, NULL, 64)));
    (void)line_in("lost");
    ck_assert_ptr_nonnull(strstr(text(judged(), "advice"), modules[_i].advice));
}

/* Static data of a library, or what several of its objects share: no variable can be bounded. */
static const struct {
    const char *root, *file, *advice;
} own_data[] = {
    {"static", NUMPY "core/_multiarray_umath.cpython-38-x86_64-linux-gnu.so",
     "numpy keeps it in data of its own"},
    {"shared", NULL, "numpy keeps it in data of its own"},
    {"static", "/home/user/libdecode.so", "Bound libdecode.so, which holds it"},
};

TEST(a_librarys_own_data_is_not_to_be_bounded, .to = N(own_data))
{
    keep_in(steady, in_numpy());
    json_t *path = add_path(line_in("held"), "kept", "libdecode.so", 480);
    json_t *root = json_object_get(path, "root");
    json_object_set_new(root, "kind", json_string(own_data[_i].root));
    json_object_set_new(root, "file",
                        own_data[_i].file ? json_string(own_data[_i].file) : json_null());
    json_object_set_new(path, "hops",
                        json_pack("[{s:s, s:n, s:n}]", "kind", "native", "name", "type"));
    const json_t *f = judged();
    if (strcmp(text(f, "pattern"), "unbounded-growth") == 0)
        ck_assert_msg(strstr(text(f, "advice"), own_data[_i].advice), "%s", text(f, "advice"));
    ck_assert_ptr_null(strstr(text(f, "advice"), "cpython"));
    ck_assert_ptr_null(strstr(text(f, "title"), "cpython"));
}

/* As where NumPy's BLAS gets its work area at the line whose results are kept: of those nothing is
 * known. If there is room for little else beside the library's data, that is what grows. */
static const struct {
    const char *root;
    int others_in_16;
    bool told;
} pools[] = {{"static", 16, false}, {"shared", 16, false}, {"static", 4, true}};

TEST(a_librarys_pool_tells_nothing_of_what_else_the_line_keeps, .to = N(pools))
{
    const int bytes = 4 * LOOK * BLOCK, others = bytes / 16 * pools[_i].others_in_16;
    json_t *line = add_line(seen, LINE, 9 * bytes + others, "held");

    keep_in(steady, in_numpy());
    json_object_set_new(line, "explained_bytes", json_integer(9 * bytes));
    json_t *path = add_path(line, "memory", "libblas.so", 1), *root = json_object_get(path, "root");
    json_object_set_new(path, "bytes", json_integer(9 * bytes));
    json_object_set_new(root, "kind", json_string(pools[_i].root));
    json_object_set_new(root, "file",
                        json_string(NUMPY "core/_multiarray_umath.cpython-38-x86_64-linux-gnu.so"));
    json_object_set_new(path, "hops",
                        json_pack("[{s:s, s:n, s:n}]", "kind", "native", "name", "type"));
    const json_t *f = judged();
    ck_assert_str_eq(text(f, "pattern"), "unbounded-growth");
    ck_assert_msg((strstr(text(f, "advice"), "data of its own") != NULL) == pools[_i].told, "%s",
                  text(f, "advice"));
    ck_assert_int_eq(json_is_object(json_object_get(f, "holders")), pools[_i].told);
}

/* ---- of one mind ------------------------------------------------------------------------------
 */

static const char *const states[] = {"held", "shared", "cycle", "lost", "reference", "unknown"};

/* What is not to be said beside each, wherever. */
static const char *const never[][9] = {
    {"nothing points to it", "nothing refers to it", "forgot to free", "only a reference cycle",
     "given back"},
    {"nothing points to it", "nothing refers to it", "forgot to free", "only a reference cycle",
     "given back"},
    {"nothing points to it", "nothing refers to it", "forgot to free", "Find what keeps",
     "keeps every item", "is loaded before step 1", "Bound "},
    {"Find what keeps", "Bound ", "keeps every item", "is loaded before step 1", "cache",
     "reference cycle", "cyclic", "was never given back", "Held through"},
    {"Find what keeps", "Bound ", "keeps every item", "is loaded before step 1", "cache",
     "reference cycle", "cyclic", "forgot to free", "Held through"},
    {"nothing points to it", "nothing refers to it", "forgot to free", "only a reference cycle",
     "given back"},
};

static void add_seen(const char *state)
{
    json_t *line = line_in(state);

    if (strcmp(state, "held") == 0 || strcmp(state, "shared") == 0)
        (void)add_path(line, "history", "main.history", 480);
    if (strcmp(state, "shared") == 0)
        (void)add_path(line, "scene", "main.scene", 480);
}

static void is_of_one_mind(const json_t *f, int state, const char *all)
{
    const char *words = seep_get_holders_words(json_object_get(f, "holders"));
    const bool nobody =
        strcmp(states[state], "lost") == 0 || strcmp(states[state], "reference") == 0;

    for (size_t i = 0; i < N(never[state]) && never[state][i]; i++)
        ck_assert_msg(!strstr(all, never[state][i]), "%s: \"%s\" in %s", states[state],
                      never[state][i], all);
    ck_assert_msg(nobody == (strstr(words, "nobody: ") != NULL), "%s %s", words, all);
    if (nobody)
        ck_assert_msg(
            strstr(text(f, "advice"), strcmp(states[state], "lost") == 0 ? "Free" : "reference"),
            "%s", all);
}

TEST(evidence_holder_and_advice_never_contradict_each_other, .to = 6 * 6)
{
    const int state = _i % 6, shape = _i / 6;

    keep_in(shapes[shape], line_of_user());
    add_seen(states[state]);
    const json_t *f = judged();
    if (!f)
        return;
    json_t *said =
        json_pack("[s, s, O]", text(f, "title"), text(f, "advice"), json_object_get(f, "evidence"));
    char *all = json_dumps(said, JSON_INDENT(1));
    is_of_one_mind(f, state, all);
    free(all);
    json_decref(said);
}

/* The check above is of something: the shapes give several patterns, and most states of them. */
TEST(lost_memory_that_grows_is_always_found, .to = 2)
{
    keep_in(shapes[_i], line_of_user());
    (void)line_in("lost");
    ck_assert_ptr_nonnull(judged());
}

SUITE("lost", .setup = setup_seen, .teardown = teardown_seen)
