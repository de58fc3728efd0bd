/* Sites that are too small to be in a page one by one: their sums are there, below their
 * callers. */
#include "libprof/page/page_document.h"
#include "libprof/page/page_parts.h"
#include "tests/page/page_cells.h"
#include "tests/report_fixture.h"

static double sum_of(const json_t *document, const char *table, const char *column)
{
    double sum = 0;
    size_t i;
    const json_t *one;

    json_array_foreach (json_object_get(json_object_get(document, table), column), i, one)
        sum += json_number_value(one);
    return sum;
}

/* The level of a row at a step. */
static json_int_t level_at(const json_t *document, const char *table, size_t row, json_int_t step)
{
    const json_t *raw = cell(document, table, "series", row);
    json_int_t at = 0, level = 0;

    for (size_t i = 0; i < json_array_size(raw); i += 2) {
        at += json_integer_value(json_array_get(raw, i));
        if (at <= step)
            level += json_integer_value(json_array_get(raw, i + 1));
    }
    return level;
}

/* Frames of a report are known by where they are: it is made of one profile. */
static void make_small_report(unsigned n)
{
    struct seep_point growing[] = {{1, 1, 100}, {20, 3, 300}};
    uint32_t outer = builder_stack(&a, 0, builder_python(&a, "/job/train.py", "main", 1)),
             run = builder_stack(&a, outer, builder_python(&a, "/job/steps.py", "run", 6)),
             rare = builder_stack(&a, outer, builder_python(&a, "/job/rare.py", "once", 2));

    for (unsigned i = 0; i < n; i++) {
        uint32_t line = builder_python(&a, "/job/lines.py", "line", i);
        uint32_t site = builder_site(&a, builder_stack(&a, run, line), 0, 3, 300, 0, 0, 1);
        builder_detail(&a, site, growing, N(growing));
    }
    builder_site(&a, builder_stack(&a, rare, builder_python(&a, "/job/rare.py", "one", 3)), 0, 1, 5,
                 0, 0, 1);
    struct seep_profile *p[] = {open_one(&a)};
    struct seep_analysis_options opts = {.all_sites = true, .series = true};
    ck_assert_int_eq(seep_analyse_profiles(p, 1, NULL, &opts, &report, NULL), 0);
}

TEST(small_sites_are_a_box_below_the_caller_whose_they_are)
{
    enum { MANY = 12000 }; /* each less than a ten-thousandth */
    make_small_report(MANY);
    json_t *document = page_document(report, NULL, false),
           *whole = page_document(report, NULL, true);

    ck_assert_uint_eq(json_object_size(json_object_get(document, "sites")), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(json_object_get(document, "small"), "stack")),
                      2);
    for (size_t row = 0; row < 2; row++) {
        const json_int_t stack = number_at(document, "small", "stack", row),
                         frame = number_at(document, "stacks", "frame", (size_t)stack);
        const bool is_run = number_at(document, "small", "sites", row) == MANY;
        ck_assert_str_eq(text_at(document, "frames", "name", (size_t)frame),
                         is_run ? "run" : "main");
    }
    for (json_int_t step = 0; step < 30; step++) {
        json_int_t level = 0;
        for (size_t row = 0; row < MANY + 1; row++)
            level += level_at(whole, "sites", row, step);
        ck_assert_int_eq(
            level_at(document, "small", 0, step) + level_at(document, "small", 1, step), level);
    }
    ck_assert_int_ge(level_at(document, "small", 0, 29) + level_at(document, "small", 1, 29),
                     100 * MANY);
    ck_assert_uint_le(
        json_array_size(json_object_get(json_object_get(document, "stacks"), "frame")), 2);
    for (size_t i = 0; i < 3; i++) {
        static const char *const columns[] = {"peak_bytes", "allocated_bytes", "allocations"};
        ck_assert_double_eq(sum_of(document, "small", columns[i]),
                            sum_of(whole, "sites", columns[i]));
    }
    json_decref(document);
    json_decref(whole);
}

TEST(a_course_of_several_has_no_more_points_than_one_of_a_report)
{
    json_t *sites[3];
    json_int_t level = 0, step = 0;

    for (int k = 0; k < 3; k++) {
        json_t *steps = json_array(), *bytes = json_array();
        for (int i = 0; i < 200; i++) {
            json_array_append_new(steps, json_integer(3 * i + k));
            json_array_append_new(bytes, json_integer(i + 1));
        }
        sites[k] = json_pack("{s:{s:o, s:o}}", "series", "step", steps, "live_bytes", bytes);
    }
    struct seep_page_changes changes = {0};
    for (int k = 0; k < 3; k++)
        ck_assert_int_eq(seep_page_changes_add(&changes, json_object_get(sites[k], "series")), 0);
    seep_page_changes_merge(&changes);
    json_t *raw = seep_page_changes_json(&changes, 130);
    free(changes.list);
    ck_assert_uint_le(json_array_size(raw), 2 * 130);
    for (size_t i = 0; i < json_array_size(raw); i += 2) {
        step += json_integer_value(json_array_get(raw, i));
        level += json_integer_value(json_array_get(raw, i + 1));
        ck_assert_int_eq(level, step + 1);
    }
    ck_assert_int_eq(level, 600);
    json_decref(raw);
    for (int k = 0; k < 3; k++)
        json_decref(sites[k]);
}

SUITE("page small", .setup = setup, .teardown = teardown)
