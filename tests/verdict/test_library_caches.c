/* What libraries keep in caches of their own: recognised by the code that allocated it, and by its
 * observed holder. */
#include "libprof/code/library_caches.h"
#include "tests/verdict/pattern_fixture.h"

enum { LINE = 77, BLOCK = 256 * 1024 };

static struct ramp endless = {FIRST, UINT32_MAX, 1, UINT32_MAX};

static uint32_t line(void)
{
    return below(main_stack, "/home/user/train.py", "predict", LINE);
}

static uint32_t made_in(const char *module)
{
    return builder_stack(&b, line(), builder_native(&b, module, NULL, 32));
}

static const char *all(void)
{
    return json_dumps(json_object_get(report, "findings"), JSON_INDENT(1));
}

TEST(what_a_library_with_a_bounded_cache_makes_is_its_cache)
{
    builder_level(&b, made_in("/usr/lib/x86_64-linux-gnu/libdnnl.so.2.6"), MMAP, BLOCK, LAST, ramp,
                  &endless);
    const json_t *f = only("legitimate-growth", "info", LINE);
    ck_assert_ptr_nonnull(strstr(text(f, "title"), "oneDNN"));
    ck_assert_ptr_nonnull(strstr(text(f, "advice"), "ONEDNN_PRIMITIVE_CACHE_CAPACITY"));
}

/* A library may run what it is given; and operator new is nobody's own. */
static const struct {
    const char *module, *inner, *pattern;
} askers[] = {
    {"/usr/lib/libdnnl.so.2.6", "/usr/lib/libstdc++.so.6", "legitimate-growth"},
    {"/usr/lib/libdnnl.so.2.6", "/home/user/extension.so", "unbounded-growth"},
};

TEST(who_asked_for_it_is_meant_and_not_who_called_that, .to = N(askers))
{
    const uint32_t outer = made_in(askers[_i].module);

    builder_level(&b, builder_stack(&b, outer, builder_native(&b, askers[_i].inner, NULL, 48)),
                  MMAP, BLOCK, LAST, ramp, &endless);
    const json_t *f = json_array_get(findings(), 0);
    ck_assert_msg(strcmp(text(f, "pattern"), askers[_i].pattern) == 0, "%s", all());
}

TEST(of_a_library_that_only_looks_like_it_nothing_is_known)
{
    builder_level(&b, made_in("/usr/lib/x86_64-linux-gnu/libdnnlike.so.2"), MMAP, BLOCK, LAST, ramp,
                  &endless);
    only("unbounded-growth", "leak", LINE);
}

TEST(more_than_it_ever_holds_is_no_cache)
{
    struct ramp many = {FIRST, UINT32_MAX, 50, UINT32_MAX};

    builder_level(&b, made_in("/usr/lib/x86_64-linux-gnu/libdnnl.so.2.6"), HOST, 4096, LAST, ramp,
                  &many);
    only("unbounded-growth", "leak", LINE);
}

/* Every size of these. */
static void asked_for(uint32_t site, uint64_t least, uint64_t most, uint64_t step)
{
    const struct seep_site *s = builder_at(&b, site);
    struct seep_detail *d = builder_at(&b, s->detail);

    d->min_bytes = least;
    d->max_bytes = most;
    d->size_marks = 0;
    for (uint64_t size = least; size <= most; size += step)
        d->size_marks |= seep_size_mark(size);
}

#define NUMPY "/x/numpy/core/_multiarray_umath.cpython-311-aarch64-linux-gnu.so"

/* Blocks of a library that keeps seven freed ones of each size below 1,024 bytes: their mean size,
 * their number a step, the largest that was asked for and what all were multiples of. No snapshot
 * was taken: they may be freed ones while they are no more than these. */
static const struct {
    const char *module;
    uint64_t bytes, each, most, step;
    bool maybe;
} freed[] = {
    {NUMPY, 500, 4, 1000, 1, true},
    {"/x/numpy/_core/_multiarray_umath.so", 500, 4, 1000, 1, true},
    {NUMPY, 500, 4, 1000, 8, true},
    {NUMPY, 500, 16, 1000, 1, true},
    {NUMPY, 500, 6, 1000, 8, false},  /* 1,200 of 125 sizes */
    {NUMPY, 960, 16, 1000, 1, false}, /* so many are not all that large */
    {NUMPY, 500, 50, 1000, 1, false}, /* of 1,000 sizes */
    {NUMPY, 500, 4, 500, 1, false},   /* of one size */
    {NUMPY, 500, 4, 1100, 1, false},
    {"/x/numpy/linalg/_umath_linalg.so", 500, 4, 1000, 1, false},
};

TEST(small_blocks_of_many_sizes_may_be_what_a_library_keeps_when_they_are_freed, .to = N(freed))
{
    const uint32_t site =
        builder_level(&b, made_in(freed[_i].module), HOST, freed[_i].bytes, LAST, ramp,
                      &(struct ramp){FIRST, UINT32_MAX, freed[_i].each, UINT32_MAX});
    asked_for(site, freed[_i].step, freed[_i].most, freed[_i].step);
    const json_t *f = only(freed[_i].maybe ? "undetermined" : "unbounded-growth",
                           freed[_i].maybe ? "pressure" : "leak", LINE);
    char *evidence = json_dumps(json_object_get(f, "evidence"), 0);
    ck_assert_msg((strstr(evidence, "NumPy's cache of small blocks: it keeps up to 7") != NULL) ==
                      freed[_i].maybe,
                  "%s", evidence);
    free(evidence);
}

/* Reached on several ways, by stacks that hold less than the cache does: it is one cache. */
TEST(all_stacks_of_a_line_fill_one_cache)
{
    for (unsigned i = 0; i < 20; i++) {
        const uint32_t site = builder_level(
            &b,
            builder_stack(&b,
                          builder_stack(&b, line(), builder_native(&b, "/x/a.so", NULL, i * 16)),
                          builder_native(&b, NUMPY, NULL, 32)),
            HOST, 750, LAST, ramp, &(struct ramp){FIRST, UINT32_MAX, 1, UINT32_MAX});
        asked_for(site, 504, 900, 8);
    }
    only("unbounded-growth", "leak", LINE);
}

/* Buffers of each communicator, by number and size a step; they end with the first half, or go on.
 */
static const struct {
    const char *module;
    unsigned space;
    uint64_t bytes, each;
    uint32_t to;
    const char *pattern, *severity, *name, *setting;
} pools[] = {
    {"/usr/lib/libnccl.so.2", HOST, 65536, 2, UINT32_MAX, "undetermined", "pressure", "NCCL",
     "NCCL_BUFFSIZE"},
    {"/usr/lib/libnccl.so.2", HOST, 4096, 400, UINT32_MAX, "undetermined", "pressure", "NCCL",
     "NCCL_BUFFSIZE"},
    {"/usr/lib/libnccl.so.2", MMAP, BLOCK, 2, FIRST + STEPS / 4, "legitimate-growth", "info",
     "NCCL", "NCCL_BUFFSIZE"},
    {"/usr/lib/libmkl_core.so.2", HOST, 65536, 1, UINT32_MAX, "undetermined", "pressure", "MKL",
     "MKL_DISABLE_FAST_MM"},
    {"/usr/lib/libmkl_core.so.2", HOST, 65536, 2, UINT32_MAX, "undetermined", "pressure", "MKL",
     "MKL_DISABLE_FAST_MM"},
};

TEST(a_cache_without_a_bound_is_told_with_its_pace_while_it_grows, .to = N(pools))
{
    struct ramp pace = {FIRST, pools[_i].to, pools[_i].each, UINT32_MAX};

    builder_level(&b, made_in(pools[_i].module), pools[_i].space, pools[_i].bytes, LAST, ramp,
                  &pace);
    const json_t *f = only(pools[_i].pattern, pools[_i].severity, LINE);
    const bool grows = pools[_i].to == UINT32_MAX;
    const double value = number(json_object_get(f, "growth_bytes_per_step"), "value");
    const double pace_bytes = (double)(pools[_i].bytes * pools[_i].each);
    ck_assert_msg(strstr(text(f, "title"), pools[_i].name) != NULL, "%s", all());
    ck_assert_msg(strstr(text(f, "advice"), pools[_i].setting) != NULL, "%s", all());
    ck_assert_msg(!grows || (value > .99 * pace_bytes && value < 1.01 * pace_bytes), "%s", all());
    char *evidence = json_dumps(json_object_get(f, "evidence"), 0);
    ck_assert_msg(!strstr(evidence, "has a bound"), "%s", evidence);
    free(evidence);
}

/* The cache grows by sixteen times what the line itself keeps. */
TEST(what_the_line_keeps_beside_a_librarys_cache_is_accused)
{
    const json_t *f;
    bool leak = false, cache = false;
    size_t i;

    builder_level(&b, made_in("/usr/lib/x86_64-linux-gnu/libdnnl.so.2.6"), MMAP, BLOCK, LAST, ramp,
                  &endless);
    builder_level(&b, line(), HOST, BLOCK / 16, LAST, ramp, &endless);
    const json_t *list = findings();
    json_array_foreach (list, i, f) {
        leak |= strcmp(text(f, "severity"), "leak") == 0 &&
                number(f, "live_bytes") < 2.0 * STEPS * BLOCK / 16;
        cache |= strcmp(text(f, "pattern"), "legitimate-growth") == 0;
    }
    ck_assert_msg(leak && cache && i == 2, "%s", all());
}

/* Its only buffer came with the first step, and is three times what the line's own items take. */
TEST(a_buffer_of_the_first_step_is_the_librarys_and_not_the_lines)
{
    static const char file[] = "/x/numpy/../numpy.libs/libscipy_openblas64_-32a4b2a6.so";
    struct ramp once = {FIRST, FIRST, 1, UINT32_MAX},
                items = {FIRST, FIRST + STEPS / 2, 1, UINT32_MAX};

    builder_level(&b, made_in(file), MMAP, 3 * STEPS / 2 * BLOCK, LAST, ramp, &once);
    builder_level(&b, line(), HOST, BLOCK, LAST, ramp, &items);
    const json_t *f = only("first-touch-cache", "info", LINE);
    ck_assert_msg(number(f, "live_bytes") < 1.1 * STEPS / 2 * BLOCK, "%s", all());
}

/* Of Python: the file's path and the function are asked, not the name alone. */
static const struct {
    const char *file, *function, *pattern;
} pythons[] = {
    {"/usr/lib/python3.11/re/__init__.py", "_compile", "legitimate-growth"},
    {"/usr/lib/python3.11/re/__init__.py", "search", "unbounded-growth"},
    {"/home/user/core.py", "_compile", "unbounded-growth"},
};

TEST(patterns_that_re_has_compiled_are_its_cache, .to = N(pythons))
{
    const bool own = strncmp(pythons[_i].file, "/home", 5) == 0;
    const unsigned at = own ? 90 : LINE;

    builder_level(&b, below(line(), pythons[_i].file, pythons[_i].function, 90), HOST, 8192, LAST,
                  ramp, &endless);
    const json_t *f = json_array_get(findings(), 0);
    ck_assert_msg(strcmp(text(f, "pattern"), pythons[_i].pattern) == 0, "%s", all());
    ck_assert_uint_eq((unsigned)number(json_object_get(f, "frame"), "line"), at);
}

TEST(each_row_says_by_what_it_is_told_and_what_to_do)
{
    static const struct seep_library_cache list[] = {
#define SEEP_LIBRARY_CACHE(...) {__VA_ARGS__},
#include "libprof/code/library_caches.def"
#undef SEEP_LIBRARY_CACHE
    };

    ck_assert_uint_gt(sizeof list / sizeof *list, 15);
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        ck_assert_msg(*list[i].module || *list[i].function || *list[i].file || *list[i].holder,
                      "%s", list[i].name);
        ck_assert_msg(*list[i].file || !*list[i].qualname, "%s", list[i].name);
        ck_assert_msg(*list[i].name && *list[i].bound && *list[i].advice && list[i].blocks, "%s",
                      list[i].name);
    }
}

static const struct {
    const char *file, *name;
} holders[] = {
    {"/x/numpy/core/_multiarray_umath.cpython-311-x86_64-linux-gnu.so",
     "NumPy's cache of small blocks"},
    {"/usr/lib/x86_64-linux-gnu/libdnnl.so.2.6", "oneDNN's cache of primitives"},
    {"/home/user/libkeeps.so", NULL},
    {"", NULL},
};

TEST(a_holder_is_told_by_its_file, .to = N(holders))
{
    const struct seep_library_cache *cache = seep_library_cache_of_holder(holders[_i].file);

    ck_assert_pstr_eq(cache ? cache->name : NULL, holders[_i].name);
}

SUITE("library caches", .setup = setup, .teardown = teardown)
