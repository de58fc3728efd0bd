/* The lab's table of expectations, and how it reads reports. */
#include "kernels/lab/rows.h"
#include "tests/suite.h"

#include <check.h>
#include <math.h>
#include <string.h>

static struct seep_rows rows;
static json_t *report;

static void set_up(void)
{
    rows = (struct seep_rows){.scenario = "made-up", .rows = json_array()};
    report = json_loads(
        "{\"spaces\": {\"tensor:0\": {\"peak_bytes\": 7}, \"host\": {}},"
        " \"processes\": [{\"rank\": 0}, {\"rank\": 1}],"
        " \"sites\": [{\"space\": \"host\", \"peak_bytes\": 3, \"stack\": [{\"function\": "
        "\"load\"}]},"
        "  {\"space\": \"host\", \"peak_bytes\": 4, \"stack\": [{\"function\": \"pool_alloc\"},"
        "   {\"function\": \"load\"}, {\"function\": \"main\"}]},"
        "  {\"space\": \"shm\", \"peak_bytes\": 8, \"stack\": [{\"function\": \"load\"}]}]}",
        0, NULL);
    ck_assert_ptr_nonnull(report);
}

static void tear_down(void)
{
    json_decref(rows.rows);
    json_decref(report);
}

TEST(a_row_that_fails_is_counted_and_kept)
{
    seep_rows_add(&rows, true, "good", "1", "%d", 1);
    seep_rows_add(&rows, false, "bad", "1", "%d", 2);
    ck_assert_uint_eq(rows.n_failed, 1);
    ck_assert_uint_eq(json_array_size(rows.rows), 2);
    const json_t *bad = json_array_get(rows.rows, 1);
    ck_assert_str_eq(seep_rows_text(bad, "measured"), "2");
    ck_assert_str_eq(seep_rows_text(bad, "scenario"), "made-up");
    ck_assert(json_is_false(json_object_get(bad, "pass")));
}

TEST(a_text_of_any_length_is_kept_whole_and_any_byte_becomes_text)
{
    char text[1201] = "";

    for (int i = 0; i < 600; i++)
        strcat(text, "é"); /* two bytes: any cut at an odd place would halve one */
    seep_rows_add(&rows, false, "long", "é", "x%s", text);
    seep_rows_add(&rows, true, "not UTF-8",
                  "a\xff"
                  "b",
                  "%s", "\xc3");
    ck_assert_uint_eq(json_array_size(rows.rows), 2);
    ck_assert_uint_eq(rows.n_failed, 1);
    ck_assert(!rows.lost);
    ck_assert_uint_eq(strlen(seep_rows_text(rows.rows, "0.measured")), 1201);
    ck_assert_str_eq(seep_rows_text(rows.rows, "1.measured"), "?");
    ck_assert_str_eq(seep_rows_text(rows.rows, "1.expected"), "a?b");
}

static const struct {
    double value, target, share;
    unsigned failed;
} near[] = {
    {109e6, 100e6, 0.1, 0}, {110e6, 100e6, 0.1, 0}, {111e6, 100e6, 0.1, 1}, {89e6, 100e6, 0.1, 1},
    {0, 0, 0, 0},           {NAN, 100e6, 0.1, 1},   {INFINITY, 1, 0.1, 1},
};

TEST(near_is_within_its_share_and_what_is_not_known_fails, .to = N(near))
{
    seep_rows_add_near(&rows, "size", near[_i].value, near[_i].target, near[_i].share, "MB");
    ck_assert_uint_eq(rows.n_failed, near[_i].failed);
}

TEST(numbers_and_texts_are_found_by_their_path)
{
    ck_assert_double_eq(seep_rows_number(report, "spaces.tensor:0.peak_bytes"), 7);
    ck_assert_double_eq(seep_rows_number(report, "processes.1.rank"), 1);
    ck_assert(isnan(seep_rows_number(report, "processes.2.rank")));
    ck_assert(isnan(seep_rows_number(report, "processes.x.rank")));
    ck_assert(isnan(seep_rows_number(report, "spaces.host.peak_bytes")));
    ck_assert(isnan(seep_rows_number(NULL, "spaces")));
    ck_assert_ptr_null(seep_rows_text(report, "spaces"));
}

TEST(a_site_is_of_the_function_that_asked_and_not_of_its_allocator)
{
    ck_assert_double_eq(seep_rows_peak_of(report, "load", "host"), 7);
    ck_assert_double_eq(seep_rows_peak_of(report, "load", "shm"), 8);
    ck_assert(isnan(seep_rows_peak_of(report, "pool_alloc", "host")));
    ck_assert(isnan(seep_rows_peak_of(report, "main", "host")));
    ck_assert(isnan(seep_rows_peak_of(NULL, "load", "host")));
}

SUITE("rows", .setup = set_up, .teardown = tear_down)
