/* The lab's tables: columns are aligned, whatever is in them. */
#include "kernels/lab/table.h"
#include "tests/suite.h"

#include <check.h>
#include <stdio.h>

static char *text;

typedef void printer(const json_t *rows, FILE *out);

static void print(printer *printed, const char *json)
{
    size_t bytes;
    json_t *rows = json_loads(json, 0, NULL);
    FILE *out = open_memstream(&text, &bytes);

    ck_assert_ptr_nonnull(rows);
    printed(rows, out);
    fclose(out);
    json_decref(rows);
}

static void print_verdicts(const json_t *rows, FILE *out)
{
    seep_table_print_verdicts(rows, 125.9, out);
}

static void tear_down(void)
{
    free(text);
    text = NULL;
}

TEST(columns_are_all_keys_and_a_cell_that_a_row_lacks_is_empty)
{
    print(seep_table_print, "[{\"kernel\": \"copy\", \"n\": 7, \"ms\": 1.23456},"
                            " {\"kernel\": \"a → b\", \"n\": 1234567, \"fits\": true}]");
    ck_assert_str_eq(text, "kernel  n        ms     fits\n"
                           "copy          7  1.235  \n"
                           "a → b   1234567         yes\n");
}

TEST(verdicts_are_counted_and_characters_not_bytes_make_the_width)
{
    print(print_verdicts,
          "[{\"scenario\": \"s\", \"name\": \"size\", \"expected\": \"1 ± 2 %\","
          "  \"measured\": \"1\", \"pass\": true},"
          " {\"scenario\": \"s\", \"name\": \"é\", \"expected\": \"1\", \"measured\": \"ä\","
          "  \"pass\": false}]");
    ck_assert_str_eq(text, "PASS  s  size  1 ± 2 %  1\n"
                           "FAIL  s  é     1        ä\n"
                           "\nrows that fail:\n"
                           "FAIL  s  é     1        ä\n"
                           "1 of 2 rows pass, in 2 min 5 s\n");
}

TEST(no_rows_are_no_columns_and_none_that_hold)
{
    print(seep_table_print, "[]");
    ck_assert_str_eq(text, "\n");
    tear_down();
    print(print_verdicts, "[]");
    ck_assert_str_eq(text, "0 of 0 rows pass, in 2 min 5 s\n");
}

SUITE("table", .teardown = tear_down)
