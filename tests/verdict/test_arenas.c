/* Small Python objects lie in arenas, and it is chance which line asks for the next one. */
#include "tests/verdict/pattern_fixture.h"

enum { LINE = 77, OTHER = 88, PYTHON = 0x030b00f0 };

static struct ramp slow = {FIRST, UINT32_MAX, 1, UINT32_MAX};

static uint32_t line(unsigned at)
{
    return below(main_stack, "/home/user/train.py", "remember", at);
}

/* Asked for at a line, by a file's code. */
static void arenas(unsigned at, uint64_t bytes, const char *file)
{
    builder_header(&b)->python_version = PYTHON;
    builder_level(&b, builder_stack(&b, line(at), builder_native(&b, file, NULL, 64)), MMAP, bytes,
                  LAST, ramp, &slow);
}

/* Arenas of 3.11 are of 1 MiB; libraries map other sizes, and of that size, too. */
static const struct {
    uint64_t kib;
    const char *file, *pattern, *severity;
} maps[] = {
    {1024, "/usr/bin/python3.11", "undetermined", "pressure"},
    {1024, "/opt/lib/libpython3.11.so.1.0", "undetermined", "pressure"},
    {256, "/usr/bin/python3.11", "unbounded-growth", "leak"},
    {1024, "/opt/lib/libpool.so", "unbounded-growth", "leak"},
};

TEST(the_line_that_asked_for_an_arena_is_not_accused, .to = N(maps))
{
    arenas(LINE, maps[_i].kib * 1024, maps[_i].file);
    only(maps[_i].pattern, maps[_i].severity, LINE);
}

TEST(arenas_of_several_lines_are_one_finding)
{
    arenas(LINE, MIB, "/usr/bin/python3.11");
    arenas(OTHER, MIB, "/usr/bin/python3.11");
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 1);
    ck_assert_ptr_nonnull(strstr(text(json_array_get(list, 0), "title"), "Small Python objects"));
    ck_assert_double_ge(number(json_array_get(list, 0), "live_bytes"), 2 * (STEPS - 2.0) * MIB);
}

/* Beside a leak of a sixteenth of the arenas, and of a fourth. */
TEST(what_is_accused_comes_before_arenas_unless_it_is_less_than_a_tenth, .to = 2)
{
    struct ramp one = {FIRST, UINT32_MAX, 1, UINT32_MAX};

    arenas(LINE, MIB, "/usr/bin/python3.11");
    builder_level(&b, line(OTHER), HOST, _i ? MIB / 4 : MIB / 16, LAST, ramp, &one);
    const json_t *list = findings();
    ck_assert_uint_eq(json_array_size(list), 2);
    ck_assert_double_eq(number(json_object_get(json_array_get(list, 0), "frame"), "line"),
                        _i ? OTHER : LINE);
}

/* What is kept beside them: nearly as much, and more. */
TEST(what_is_more_than_the_arenas_beside_it_is_accused, .to = 2)
{
    arenas(LINE, MIB, "/usr/bin/python3.11");
    builder_level(&b, line(LINE), HOST, MIB + (_i ? 65536 : -65536), LAST, ramp, &slow);
    only(_i ? "unbounded-growth" : "undetermined", _i ? "leak" : "pressure", LINE);
}

TEST(what_was_loaded_into_arenas_is_nobodys_items)
{
    struct ramp first = {2, 9, 3, UINT32_MAX};

    builder_header(&b)->python_version = PYTHON;
    builder_level(
        &b, builder_stack(&b, line(LINE), builder_native(&b, "/usr/bin/python3.11", NULL, 64)),
        MMAP, MIB, LAST, ramp, &first);
    nobody();
}

/* ---- containers -------------------------------------------------------------------------------
 */

/* A list's table at a line: made anew so often, as large at last, and up to a period. */
struct table {
    uint64_t made, first, last;
    uint32_t until;
};

static void table(unsigned at, const char *inside, struct table t)
{
    const uint32_t stack =
        inside ? builder_stack(&b, line(at), builder_native(&b, inside, NULL, 64)) : line(at);
    struct seep_point points[] = {{FIRST, 1, t.first}, {t.until, 1, t.last}};
    const uint32_t site = builder_site(&b, stack, HOST, t.made, t.made * t.last, t.made - 1,
                                       (t.made - 1) * t.last, FIRST);
    const uint32_t detail = builder_detail(&b, site, points, 2);
    struct seep_site *s = builder_at(&b, site);
    struct seep_detail *d = builder_at(&b, detail);

    s->last_period = LAST - 1;
    s->peak_bytes = t.last;
    s->peak_period = t.until;
    d->min_bytes = t.first;
    d->max_bytes = t.last;
}

static const struct {
    struct table t;
    const char *inside;
    bool is_meant;
} tables[] = {
    {{20, 64, 32768, LAST - 8}, NULL, true},
    {{20, 64, 32768, LAST - 8}, "/usr/bin/python3.11", true},
    {{20, 64, 32768, LAST - 8}, "/usr/lib/libpool.so", false},
    {{7, 64, 32768, LAST - 8}, NULL, true},
    {{5, 64, 32768, LAST - 8}, NULL, false},
    {{20, 64, 5200, LAST - 8}, NULL, true},
    {{20, 6000, 32768, LAST - 8}, NULL, true},
    {{20, 64, 4000, LAST - 8}, NULL, false},
    {{20, 10000, 32768, LAST - 8}, NULL, false},
    {{20, 64, 32768, FIRST + STEPS / 4}, NULL, false},
};

TEST(the_line_that_adds_to_a_container_is_named_instead, .to = N(tables))
{
    arenas(LINE, MIB, "/usr/bin/python3.11");
    table(OTHER, tables[_i].inside, tables[_i].t);
    only("undetermined", "pressure", tables[_i].is_meant ? OTHER : LINE);
}

TEST(of_two_containers_that_are_alike_none_is_named, .to = 2)
{
    const struct table larger = {20, 64, 32768, LAST - 8},
                       other = {20, 64, _i ? 20000 : 12000, LAST - 8};

    arenas(LINE, MIB, "/usr/bin/python3.11");
    table(OTHER, NULL, larger);
    table(OTHER + 1, NULL, other);
    only("undetermined", "pressure", _i ? LINE : OTHER);
}

SUITE("arenas", .setup = setup, .teardown = teardown)
