/* What a page says of an older run: findings as they were judged, sites in pairs, and nothing that
 * neither run contains. */
#include "libprof/page/page_document.h"
#include "libprof/page/page_tables.h"
#include "libprof/report_read/report_view.h"
#include "tests/page/page_cells.h"
#include "tests/report_fixture.h"

static json_t *base, *document;

static void forget(void)
{
    json_decref(base);
    json_decref(document);
    base = document = NULL;
    teardown();
}

static json_t *made(const char *text)
{
    json_error_t error;
    json_t *json = json_loads(text, 0, &error);

    ck_assert_msg(json != NULL, "%s", error.text);
    return json;
}

static const json_t *compare(const json_t *verdict, const char *why_not, bool all)
{
    document = compared_document(report, base, verdict, why_not, all);
    ck_assert_ptr_nonnull(document);
    return json_object_get(document, "comparison");
}

static const json_t *pair_cell(const json_t *comparison, const char *column, size_t i)
{
    return json_array_get(json_object_get(json_object_get(comparison, "pairs"), column), i);
}

static const char *text_of(const json_t *number)
{
    return json_string_value(
        json_array_get(json_object_get(document, "texts"), (size_t)json_integer_value(number)));
}

static size_t n_pairs(const json_t *comparison)
{
    return json_array_size(json_object_get(json_object_get(comparison, "pairs"), "space"));
}

/* A run of one function that keeps so much, at some line; and of one of its own. */
static json_t *run_of(int kept, int line, const char *own)
{
    json_t *frame = json_pack("{s:s, s:s, s:s, s:i}", "kind", "python", "function", "load", "file",
                              "/job/data.py", "line", line),
           *other = json_pack("{s:s, s:s, s:s, s:i}", "kind", "python", "function", own, "file",
                              "/job/data.py", "line", 1);

    return json_pack("{s:{s:{s:i}}, s:[{s:s, s:s, s:i, s:i, s:{s:i, s:i, s:i}, s:[o], s:i},"
                     " {s:s, s:s, s:i, s:[o], s:i}, {s:s, s:s, s:i}]}",
                     "spaces", "host", "peak_bytes", 1000000, "sites", "id", "S1", "space", "host",
                     "retained_bytes", kept, "peak_bytes", 2 * kept, "growth_bytes_per_step",
                     "value", kept / 10, "low", 0, "high", 0, "stack", frame, "look_at", 0, "id",
                     "S2", "space", "host", "peak_bytes", 100, "stack", other, "look_at", 0, "id",
                     "S3", "space", "host", "peak_bytes", 99);
}

TEST(a_line_that_moved_is_one_pair_with_both_figures)
{
    base = run_of(5000, 3, "was");
    report = run_of(700, 30, "is");
    const json_t *both = compare(NULL, "", false);

    ck_assert_uint_eq(n_pairs(both), 3);
    ck_assert_double_eq(json_number_value(pair_cell(both, "kept_before", 0)), 5000);
    ck_assert_double_eq(json_number_value(pair_cell(both, "kept_after", 0)), 700);
    ck_assert_double_eq(json_number_value(pair_cell(both, "peak_before", 0)), 10000);
    ck_assert_double_eq(json_number_value(pair_cell(both, "peak_after", 0)), 1400);
    ck_assert_double_eq(json_number_value(pair_cell(both, "growth_before", 0)), 500);
    ck_assert_double_eq(json_number_value(pair_cell(both, "growth_after", 0)), 70);
    ck_assert_str_eq(text_of(pair_cell(both, "space", 0)), "host");
    ck_assert_str_eq(text_of(pair_cell(both, "site", 0)), "S1");
    const json_t *lines = json_object_get(json_object_get(document, "frames"), "line");
    const size_t line = (size_t)json_integer_value(pair_cell(both, "look_at", 0));
    ck_assert_int_eq(json_integer_value(json_array_get(lines, line)), 30);
}

TEST(what_one_run_has_alone_is_null_in_the_other)
{
    base = run_of(5000, 3, "was");
    report = run_of(700, 30, "is");
    const json_t *both = compare(NULL, "", false);

    ck_assert(json_is_null(pair_cell(both, "kept_after", 1)) &&
              json_is_real(pair_cell(both, "kept_before", 1)));
    ck_assert_int_eq(json_integer_value(pair_cell(both, "site", 1)), -1);
    ck_assert(json_is_null(pair_cell(both, "peak_before", 2)) &&
              json_is_real(pair_cell(both, "peak_after", 2)));
}

TEST(the_line_to_look_at_is_a_frame_of_the_stack)
{
    base = run_of(5000, 3, "was");
    report = run_of(700, 30, "is");
    const json_t *both = compare(NULL, "", false);
    const json_t *stacks = json_object_get(document, "stacks");

    for (size_t i = 0; i < n_pairs(both); i++) {
        const size_t stack = (size_t)json_integer_value(pair_cell(both, "stack", i));
        ck_assert(json_equal(json_array_get(json_object_get(stacks, "frame"), stack),
                             pair_cell(both, "look_at", i)));
    }
}

static double sum_of(const json_t *columns, const char *column)
{
    double sum = 0;
    size_t i;
    const json_t *one;

    json_array_foreach (json_object_get(columns, column), i, one)
        sum += json_number_value(one);
    return sum;
}

TEST(pairs_light_in_both_runs_are_summed_unless_all_are_asked_for)
{
    base = run_of(5000, 3, "was");
    report = run_of(700, 30, "is");
    const json_t *both = compare(NULL, "", false), *small = json_object_get(both, "small");

    ck_assert_uint_eq(json_array_size(json_object_get(small, "stack")), 1);
    ck_assert_int_eq(json_integer_value(json_array_get(json_object_get(small, "pairs"), 0)), 1);
    const double peaks =
        sum_of(json_object_get(both, "pairs"), "peak_after") + sum_of(small, "peak_after");
    json_decref(document);
    both = compare(NULL, "", true);
    ck_assert_uint_eq(n_pairs(both), 4);
    ck_assert_uint_eq(json_object_size(json_object_get(both, "small")), 0);
    ck_assert_double_eq(sum_of(json_object_get(both, "pairs"), "peak_after"), peaks);
}

static const char *state_of(const json_t *comparison, size_t i)
{
    return seep_get_text(json_array_get(json_object_get(comparison, "findings"), i), "state", "");
}

TEST(findings_are_as_they_were_judged)
{
    base = made("{}");
    report = made("{}");
    json_t *verdict = made("{\"verdict\": \"not-fixed\", \"why\": \"so\", \"notes\": [\"n\"],"
                           "\"savings\": [], \"findings\": ["
                           "{\"state\": \"vanished\", \"before\": {\"id\": \"F7\"},"
                           " \"after\": {\"id\": \"F9\"}},"
                           "{\"state\": \"new\", \"before\": null, \"after\": {\"id\": \"F1\"}}]}");
    const json_t *both = compare(verdict, NULL, false);
    const json_t *first = json_array_get(json_object_get(both, "findings"), 0);
    json_decref(verdict);

    ck_assert_str_eq(seep_get_text(both, "verdict", ""), "not-fixed");
    ck_assert_str_eq(seep_get_text(both, "why", ""), "so");
    ck_assert_str_eq(state_of(both, 0), "vanished");
    ck_assert_str_eq(seep_get_text(json_object_get(first, "before"), "id", ""), "F7");
    ck_assert_str_eq(seep_get_text(first, "after", ""), "F9");
    ck_assert_str_eq(state_of(both, 1), "new");
}

TEST(findings_that_nobody_judged_are_told_by_their_presence)
{
    static const char one[] = "{\"findings\": [{\"id\": \"F1\", \"pattern\": \"p\", \"space\": "
                              "\"host\", \"frame\": {\"function\": \"f\", \"file\": \"a.py\"}}]}",
                      two[] = "{\"findings\": [{\"id\": \"F4\", \"pattern\": \"p\", \"space\": "
                              "\"host\", \"frame\": {\"function\": \"g\", \"file\": \"b.py\"}}]}";
    base = made(one);
    report = made(two);
    const json_t *both = compare(NULL, "too few", false);

    ck_assert_ptr_null(json_object_get(both, "verdict"));
    ck_assert_str_eq(seep_get_text(both, "why_not", ""), "too few");
    ck_assert_str_eq(state_of(both, 0), "vanished");
    ck_assert_str_eq(state_of(both, 1), "new");
    json_decref(document);
    json_decref(report);
    report = made(one);
    ck_assert_str_eq(state_of(compare(NULL, "", false), 0), "remains");
}

TEST(long_names_of_the_older_run_are_cut)
{
    static char name[5000];
    memset(name, 'x', sizeof name - 1);
    base = json_pack("{s:{s:[s]}, s:[{s:s, s:s}]}", "job", "command", name, "findings", "id", "F1",
                     "title", name);
    report = made("{}");
    const json_t *both = compare(NULL, name, false);
    const json_t *before =
        json_object_get(json_array_get(json_object_get(both, "findings"), 0), "before");

    ck_assert_uint_le(strlen(seep_get_text(before, "title", "")), SEEP_PAGE_TEXT_BYTES + 4);
    ck_assert_uint_ge(strlen(seep_get_text(before, "title", "")), SEEP_PAGE_TEXT_BYTES);
    ck_assert_uint_le(strlen(seep_get_text(both, "why_not", "")), SEEP_PAGE_TEXT_BYTES + 4);
    ck_assert_uint_le(strlen(json_string_value(json_array_get(
                          json_object_get(json_object_get(both, "job"), "command"), 0))),
                      SEEP_PAGE_TEXT_BYTES + 4);
}

TEST(the_course_of_the_older_run_is_beside_that_of_the_report)
{
    base = made("{\"timeline\": {\"step\": [1, 2]}, \"job\": {\"steps\": 2}}");
    report = made("{\"timeline\": {\"step\": [7]}, \"job\": {\"steps\": 7}}");
    const json_t *both = compare(NULL, "", false);

    ck_assert(json_equal(json_object_get(both, "timeline"), json_object_get(base, "timeline")));
    ck_assert(json_equal(json_object_get(both, "job"), json_object_get(base, "job")));
    ck_assert(
        json_equal(json_object_get(document, "timeline"), json_object_get(report, "timeline")));
}

static const char *const odd[] = {
    "{}",
    "{\"sites\": 3, \"findings\": {}, \"job\": null, \"timeline\": null, \"spaces\": []}",
    "{\"sites\": [{\"id\": \"S1\"}, {\"id\": \"S2\", \"stack\": [{}], \"look_at\": 7}]}",
    "{\"findings\": [null, 3, {\"sites\": 3, \"frame\": 3}], \"spaces\": {\"host\": 3}}",
};

TEST(reports_that_lack_parts_are_compared_without_them, .to = N(odd) * N(odd))
{
    base = made(odd[(size_t)_i / N(odd)]);
    report = made(odd[(size_t)_i % N(odd)]);
    ck_assert_ptr_nonnull(compare(NULL, NULL, true));
}

TEST(a_page_of_one_run_has_no_comparison)
{
    report = made("{}");
    document = page_document(report, NULL, false);
    ck_assert_ptr_nonnull(document);
    ck_assert_ptr_null(json_object_get(document, "comparison"));
}

SUITE("page comparison", .setup = setup, .teardown = forget)
