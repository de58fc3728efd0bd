/* Python's small objects, of which snapshots have seen who got more: the line that adds to the
 * holder is told, not one that asked for arenas. */
#include "tests/verdict/beside_snapshots.h"
#include "tests/who/merge/made_up_snapshots.h"

enum { LINE = 77, OTHER = 88, ADDS = 99, PYTHON = 0x030b00f0, BEFORE = 20 };

static struct ramp each_step = {FIRST, UINT32_MAX, 1, UINT32_MAX};

/* The looks at it, each with what the holder has then; of `length` −1: it is no container. */
static struct look {
    int step, mib, length;
} looks[4];
static size_t n_looks;
static int table, bound;
static const char *unheld; /* the kind of root that tells why nobody holds them; NULL: held */

static void setup_looks(void)
{
    setup();
    n_looks = 0;
    table = ADDS;
    bound = 0;
    unheld = NULL;
}

static uint32_t line(unsigned at)
{
    return below(main_stack, "/home/user/train.py", "remember", at);
}

static void arenas(unsigned at, struct ramp *when)
{
    builder_header(&b)->python_version = PYTHON;
    builder_level(&b,
                  builder_stack(&b, line(at), builder_native(&b, "/usr/bin/python3.11", NULL, 64)),
                  MMAP, MIB, LAST, ramp, when);
}

static void write_looks(const char *dir)
{
    for (size_t i = 0; i < n_looks; i++) {
        json_t *one = snapshot(100, 0, looks[i].step);
        json_t *small = add_small_objects(one, (BEFORE + 2 * looks[i].step) * MIB);
        json_t *path =
            add_small_holder(small, "Log.records", looks[i].mib * MIB, looks[i].length, table);
        json_t *holder = json_object_get(path, "holder");
        if (looks[i].length < 0)
            json_object_set_new(holder, "length", json_null());
        if (bound) {
            json_object_set_new(holder, "bound", json_integer(bound));
            json_object_set_new(holder, "bound_by", json_string("maxlen"));
        }
        if (unheld) {
            json_object_set_new(json_object_get(path, "root"), "kind", json_string(unheld));
            json_object_set_new(path, "holder", json_null());
            json_object_set_new(path, "table", json_null());
        }
        write_snapshot(dir, looks[i].step, one);
        json_decref(one);
    }
}

static const json_t *judged(void)
{
    return judged_beside(write_looks, LAST, UINT64_C(300) << 20);
}

static void look(int step, int mib, int length)
{
    looks[n_looks++] = (struct look){step, mib, length};
}

static void is_at(const json_t *f, unsigned at)
{
    ck_assert_double_eq(number(json_object_get(f, "frame"), "line"), at);
}

TEST(the_line_that_adds_to_the_holder_is_accused)
{
    arenas(LINE, &each_step);
    builder_level(&b, line(ADDS), HOST, 4096, LAST, ramp, &each_step); /* of its table */
    look(60, 58, 600);
    look(90, 88, 900);
    const json_t *f = judged();
    expect_finding(f, "unbounded-growth", "leak",
                   "From step 60 to step 90 the arenas of Python's small objects grew by 30.0 MiB, "
                   "and the objects that this holder keeps alive by 30.0 MiB");
    is_at(f, ADDS);
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "Log.records"));
    ck_assert_str_eq(text(json_object_get(f, "holders"), "state"), "held");
    ck_assert_double_eq(number(json_object_get(f, "holders"), "bytes"), 88.0 * MIB);
    ck_assert_double_ge(number(f, "confidence"), 0.9);
}

/* Those of all lines are one finding, at the one with most of them where nobody knows better. */
TEST(without_a_table_it_is_the_line_with_most_arenas)
{
    struct ramp two_each_step = {FIRST, UINT32_MAX, 2, UINT32_MAX};

    arenas(OTHER, &each_step);
    arenas(LINE, &two_each_step);
    table = 1;
    look(60, 80, -1);
    look(90, 160, -1);
    const json_t *f = judged();
    expect_finding(f, "unbounded-growth", "leak", "What holds it keeps more in each snapshot");
    is_at(f, LINE);
    ck_assert_uint_eq(json_array_size(json_object_get(report, "findings")), 1);
    ck_assert_double_ge(number(f, "live_bytes"), 3 * (STEPS - 4.0) * MIB);
}

/* Of the 30 MiB that arenas grew by from step 60 to 90, the holder got so much. */
static const struct {
    int mib;
    const char *pattern;
} shares[] = {{15, "unbounded-growth"}, {14, "undetermined"}, {1, "undetermined"}};

TEST(a_holder_that_got_less_than_half_is_not_what_grows, .to = N(shares))
{
    arenas(LINE, &each_step);
    look(60, 10, 600);
    look(90, 10 + shares[_i].mib, 900);
    const json_t *f = judged();
    expect_finding(f, shares[_i].pattern, _i ? "pressure" : "leak",
                   _i ? "no snapshot shows" : "Log.records");
    is_at(f, LINE);
}

/* Extensions took references to them, or lost them; or the collector is disabled. */
static const struct {
    const char *kind, *pattern, *says, *advice;
} roots[] = {
    {"reference", "unbounded-growth", "grew by 30.0 MiB, and the objects that nobody holds by 30.0",
     "Py_DECREF"},
    {"nobody", "unbounded-growth", "nothing points to it any more", "Free what this line"},
    {"cycle", "reference-cycle", "the objects that only reference cycles keep alive by 30.0 MiB",
     "reference cycle"},
};

TEST(what_no_root_reaches_is_accused_of_what_arenas_grew_by, .to = N(roots))
{
    arenas(LINE, &each_step);
    unheld = roots[_i].kind;
    look(60, 58, 1);
    look(90, 88, 1);
    const json_t *f = judged();
    expect_finding(f, roots[_i].pattern, "leak", roots[_i].says);
    ck_assert_msg(strstr(text(f, "advice"), roots[_i].advice), "%s", text(f, "advice"));
    is_at(f, LINE);
}

/* A cache that has a bound, and fits. */
TEST(a_holder_with_a_bound_grows_legitimately)
{
    arenas(LINE, &each_step);
    bound = 1000;
    look(60, 58, 600);
    look(90, 88, 900);
    expect_finding(judged(), "legitimate-growth", "info", "of at most 1000 entries");
}

/* Seen once: it has most of all, so it is named; whether it grows is told by the arenas' level. */
TEST(one_look_names_the_holder)
{
    arenas(LINE, &each_step);
    look(90, 170, 900);
    const json_t *f = judged();
    expect_finding(
        f, "unbounded-growth", "leak",
        "Up to step 90 the arenas of Python's small objects grew by 90.0 MiB; there are 170 MiB "
        "of objects that this holder keeps alive");
    ck_assert_double_lt(number(f, "confidence"), 0.9);
}

TEST(without_a_holder_it_is_as_before)
{
    arenas(LINE, &each_step);
    look(60, 58, 600);
    look(90, 58, 600);
    const json_t *f = judged();
    expect_finding(f, "undetermined", "pressure", "no snapshot shows");
    is_at(f, LINE);
}

/* A level that has long been flat is no growth, whoever holds it. */
TEST(what_does_not_grow_is_nobodys, .to = 2)
{
    struct ramp early = {2, 9, 3, UINT32_MAX};

    arenas(LINE, &early);
    look(60, 8, 600);
    look(90, 8 + _i, 900);
    ck_assert_ptr_null(judged());
}

SUITE("small objects and who holds them", .setup = setup_looks, .teardown = teardown)
