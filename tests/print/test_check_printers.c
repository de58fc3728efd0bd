/* A check in each of its formats. */
#include "libprof/print/check_printers.h"
#include "tests/gate/gate_fixture.h"

typedef int printer(const json_t *check, FILE *out, bool colour);
#define SEEP_CHECK_FORMAT(name) as_##name,
enum {
    as_text,
#include "libprof/print/check_formats.def"
    N_PRINTERS
};
#undef SEEP_CHECK_FORMAT

#define SEEP_CHECK_FORMAT(name) seep_check_##name,
static printer *const printers[N_PRINTERS] = {
    seep_check_text,
#include "libprof/print/check_formats.def"
};
#undef SEEP_CHECK_FORMAT

/* Texts of a profile are anybody's: none may end a cell, an attribute or an element. */
TEST(hostile_texts_stay_texts_in_every_format, .to = N_PRINTERS)
{
    static const char evil[] = "\"/><failure>|\n\x1b[31m</details>]]>&\xef\xbf\xbf@all<script>";
    char *text = NULL;
    size_t n = 0;

    json_t *finding = add_finding(report, "unbounded-growth", "leak", "load", 5, 1 << 20);
    json_object_set_new(finding, "title", json_string(evil));
    json_object_set_new(finding, "advice", json_string(evil));
    json_object_set_new(finding, "frame", frame(evil, evil, 5));
    add_holders(finding, evil, 1);
    ck_assert_int_eq(seep_gate_describe(report, &check), 0);
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(printers[_i](check, out, false), 0);
    fclose(out);
    ck_assert_ptr_null(strchr(text, 0x1b));
    if (_i != as_text)
        ck_assert_ptr_null(strstr(text, _i == as_sarif ? "\n<" : "<script>"));
    if (_i == as_markdown)
        ck_assert_ptr_null(strstr(text, "@all"));
    if (_i == as_junit)
        ck_assert_ptr_null(strstr(text, "<failure>"));
    free(text);
}

/* Who holds it is said in each; SARIF says where. */
TEST(every_format_says_who_holds_it, .to = N_PRINTERS)
{
    char *text = NULL;
    size_t n = 0;

    add_holders(add_finding(report, "unbounded-growth", "leak", "load", 5, 1 << 20), "index.pages",
                1);
    option(SEEP_BUDGET_FINDINGS, "leak=0");
    struct seep_gate gate = {.report = report, .budget = &budget};
    ck_assert_int_eq(seep_gate_check(&gate, &check, &err), 0);
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(printers[_i](check, out, false), 0);
    fclose(out);
    ck_assert_ptr_nonnull(
        strstr(text, _i == as_text ? "held by  index.pages" : "held by index.pages"));
    ck_assert_ptr_nonnull(strstr(text, "deleting it frees at least 98 %"));
    ck_assert_ptr_nonnull(strstr(text, "(dict, at most 500)"));
    if (_i == as_sarif) {
        json_t *log = json_loads(text, 0, NULL);
        const json_t *run = json_array_get(json_object_get(log, "runs"), 0);
        const json_t *result = json_array_get(json_object_get(run, "results"), 0);
        const json_t *at = json_array_get(json_object_get(result, "relatedLocations"), 0);
        const json_t *physical = json_object_get(at, "physicalLocation");
        ck_assert_str_eq(seep_get_text(json_object_get(physical, "artifactLocation"), "uri", ""),
                         "train.py");
        ck_assert_double_eq(seep_get_number(json_object_get(physical, "region"), "startLine"), 7);
        json_decref(log);
    }
    free(text);
}

/* Nothing on the host says that memory ran out but who was killed for it. */
TEST(every_format_says_that_the_kernel_killed_for_lack_of_memory, .to = N_PRINTERS)
{
    static const char *const bad[] = {[as_text] = "FAIL",
                                      [as_markdown] = "memory budget violated",
                                      [as_sarif] = "\"level\": \"error\"",
                                      [as_junit] = "failures=\"1\""};
    char *text = NULL;
    size_t n = 0;

    json_object_set_new(json_object_get(report, "job"), "oom_kills", json_integer(1));
    ck_assert_int_eq(seep_gate_describe(report, &check), 0);
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(printers[_i](check, out, false), 0);
    fclose(out);
    ck_assert_ptr_nonnull(strstr(text, "the kernel killed 1 process of the job"));
    ck_assert_ptr_nonnull(strstr(text, bad[_i]));
    free(text);
}

/* Whoever opens the result is led from line to line of those that had the memory. */
TEST(sarif_points_at_the_lines_that_a_device_was_full_of)
{
    static const char *const words[] = {
        "5.0 MiB kept from before, at most 1.0 MiB more made in the step",
        "2.0 MiB kept from before", "at most 1.0 MiB made in the step"};
    static const int bytes[][2] = {{5 << 20, 1 << 20}, {2 << 20, 0}, {0, 1 << 20}};
    json_t *finding = add_finding(report, "out-of-memory", "pressure", "load", 5, 1 << 20);
    json_t *lines = json_array();
    char *text = NULL;
    size_t n = 0;

    for (int i = 0; i < 3; i++)
        json_array_append_new(lines,
                              json_pack("{s:o, s:i, s:i}", "frame",
                                        frame("load", "/home/user/train.py", 40 + i), "kept_bytes",
                                        bytes[i][0], "step_bytes", bytes[i][1]));
    json_object_set_new(finding, "shortage", json_pack("{s:o}", "lines", lines));
    ck_assert_int_eq(seep_gate_describe(report, &check), 0);
    FILE *out = open_memstream(&text, &n);
    ck_assert_int_eq(seep_check_sarif(check, out, false), 0);
    fclose(out);
    json_t *log = json_loads(text, 0, NULL);
    const json_t *run = json_array_get(json_object_get(log, "runs"), 0);
    const json_t *related =
        json_object_get(json_array_get(json_object_get(run, "results"), 0), "relatedLocations");
    ck_assert_uint_eq(json_array_size(related), 3);
    for (size_t i = 0; i < 3; i++) {
        const json_t *at = json_array_get(related, i),
                     *place = json_object_get(at, "physicalLocation");
        ck_assert_str_eq(seep_get_text(json_object_get(at, "message"), "text", ""), words[i]);
        ck_assert_double_eq(seep_get_number(json_object_get(place, "region"), "startLine"),
                            40 + (double)i);
    }
    json_decref(log);
    free(text);
}

static long failing = -1; /* that many allocations of JSON go well, and the next one does not */

static void *allocate(size_t n)
{
    if (failing >= 0 && failing-- == 0)
        return NULL;
    return malloc(n);
}

static char *sarif_of(const json_t *of, int *rc)
{
    char *text = NULL;
    size_t n = 0;
    FILE *out = open_memstream(&text, &n);

    *rc = seep_check_sarif(of, out, false);
    fclose(out);
    return text;
}

/* Who reads it would take what is missing for what is well. */
TEST(sarif_that_memory_was_missing_for_is_none)
{
    size_t n_failed = 0;
    int rc = 0;

    json_t *finding = add_finding(report, "unbounded-growth", "leak", "load", 5, 1 << 20);
    json_object_set_new(finding, "frame", frame("load", "/home/user/train.py", 5));
    add_holders(finding, "Annotations.by_name", 1);
    ck_assert_int_eq(seep_gate_describe(report, &check), 0);
    char *whole = sarif_of(check, &rc);
    ck_assert_int_eq(rc, 0);
    json_set_alloc_funcs(allocate, free);
    for (long k = 0, done = 0; !done; k++) {
        failing = k;
        char *text = sarif_of(check, &rc);
        done = failing >= 0;
        failing = -1;
        if (rc == 0)
            ck_assert_msg(strcmp(text, whole) == 0, "allocation %ld: a hole", k);
        n_failed += rc != 0;
        free(text);
    }
    json_set_alloc_funcs(malloc, free);
    ck_assert_uint_gt(n_failed, 20);
    free(whole);
}

SUITE("check printers", .setup = setup, .teardown = teardown)
