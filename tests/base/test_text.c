/* A message on stderr is one line, whatever the names in it contain. */
#include "libprof/base/text.h"
#include "tests/suite.h"

#include <stdint.h>
#include <string.h>

static size_t complaint(char *line, size_t capacity, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static size_t complaint(char *line, size_t capacity, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    size_t n = seep_text_complaint(line, capacity, "seep-lab", format, args);
    va_end(args);
    return n;
}

TEST(a_complaint_is_one_line_without_control_characters)
{
    static const char expected[] = "seep-lab: a?b?[31m \xc3\xa9: say 7\n";
    char line[64];

    size_t n = complaint(line, sizeof line, "%s: say %d", "a\nb\033[31m \xc3\xa9", 7);
    ck_assert_uint_eq(n, strlen(expected));
    ck_assert_mem_eq(line, expected, n);
}

TEST(a_long_complaint_is_cut_and_still_ends_its_line)
{
    char line[64], text[200] = {0};

    memset(text, 'x', sizeof text - 1);
    size_t n = complaint(line, sizeof line, "%s", text);
    ck_assert_uint_eq(n, sizeof line - 1);
    ck_assert_int_eq(line[n - 1], '\n');
    ck_assert_int_eq(line[n - 2], 'x');
}

TEST(large_counts_are_read_by_their_thousands)
{
    char text[SEEP_SIZE_TEXT];

    ck_assert_str_eq(seep_text_count(0, text), "0");
    ck_assert_str_eq(seep_text_count(999, text), "999");
    ck_assert_str_eq(seep_text_count(20000, text), "20,000");
    ck_assert_str_eq(seep_text_count(UINT64_MAX, text), "18,446,744,073,709,551,615");
}

SUITE("text")

TEST(a_range_whose_ends_are_equal_is_one_number)
{
    char text[SEEP_INTERVAL_TEXT], span[SEEP_SPAN_TEXT];

    ck_assert_str_eq(seep_text_interval("95 % interval ", 2048, 1024, 3072, text),
                     " (95 % interval 1.0 KiB to 3.0 KiB)");
    ck_assert_str_eq(seep_text_interval("", 55300, 55299, 55301, text), ""); /* all read 54.0 KiB */
    ck_assert_str_eq(seep_text_interval("", 0, 0, 0, text), "");
    ck_assert_str_eq(seep_text_span("step", 3, 9, span), "steps 3 to 9");
    ck_assert_str_eq(seep_text_span("time slice", 7, 7, span), "time slice 7");
}
