/* A check in each of its formats. */
#include "libprof/export/check_printers.h"
#include "tests/gate/gate_fixture.h"

typedef int printer(const json_t *check, FILE *out, bool colour);
static printer *const printers[] = {seep_check_text, seep_check_markdown, seep_check_junit,
                                    seep_check_sarif};

/* Texts of a profile are anybody's: none may end a cell, an attribute or an element. */
START_TEST(hostile_texts_stay_texts_in_every_format)
{
    static const char evil[] = "\"/><failure>|\n\x1b[31m</details>]]>&\xef\xbf\xbf@all<script>";
    char *text = NULL;
    size_t n = 0;

    json_t *finding = add_finding(report, "unbounded-growth", "leak", "load", 5, 1 << 20);
    json_object_set_new(finding, "title", json_string(evil));
    json_object_set_new(finding, "advice", json_string(evil));
    json_object_set_new(finding, "frame", frame(evil, evil, 5));
    ck_assert_int_eq(seep_gate_describe(report, &check), 0);
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(printers[_i](check, out, false), 0);
    fclose(out);
    ck_assert_ptr_null(strchr(text, 0x1b));
    if (_i > 0)
        ck_assert_ptr_null(strstr(text, _i == 3 ? "\n<" : "<script>"));
    if (_i == 1)
        ck_assert_ptr_null(strstr(text, "@all"));
    if (_i == 2)
        ck_assert_ptr_null(strstr(text, "<failure>"));
    free(text);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("check printers");
    TCase *cases = tcase_create("all");

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_loop_test(cases, hostile_texts_stay_texts_in_every_format, 0, 4);
    suite_add_tcase(suite, cases);
    return suite_run(suite);
}
