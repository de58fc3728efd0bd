/* The lab's judgement of a variant: what a good report is, and every way in which one is not. */
#include "kernels/lab/judges.h"
#include "tests/suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#define FOUND(severity, pattern, function)                                                         \
    "{\"severity\": \"" severity "\", \"pattern\": \"" pattern                                     \
    "\", \"frame\": {\"function\": \"" function "\"}}"
#define KEPT  FOUND("retention", "aliased-cache", "collate")
#define OTHER FOUND("leak", "unbounded-growth", "elsewhere")
#define SPIKE FOUND("pressure", "size-spike", "pad")

static const struct seep_variant leaky = {
    .name = "leaky", .pattern = "aliased-cache", .severity = "retention", .function = "collate"};
static const struct seep_variant two = {.name = "two",
                                        .pattern = "aliased-cache",
                                        .severity = "retention",
                                        .function = "collate",
                                        .others = "graph-retention, unbounded-growth"};
static const struct seep_variant peaky = {
    .name = "peaky", .pattern = "size-spike", .severity = "pressure", .function = "pad"};
static const struct seep_variant fixed = {.name = "fixed"};
static const struct seep_variant smooth = {.name = "smooth", .cured = "size-spike"};
static const struct seep_variant long_one = {.name = "long",
                                             .pattern = "size-spike",
                                             .severity = "pressure",
                                             .function = "pad",
                                             .least_scale = 0.01};
static const struct seep_variant failing = {.name = "failing", .fails = true};
static const struct seep_variant unsure = {.name = "unsure", .may_fail = true};

#define EXITED(status) ((status) << 8) /* as wait() has it */

static const struct {
    const struct seep_variant *variant;
    int status;
    const char *findings;  /* NULL: no report */
    const char *failed[2]; /* the lines that must fail */
} cases[] = {
    {&leaky, 0, KEPT, {NULL}},
    {&leaky, 0, SPIKE ", " KEPT, {NULL}},
    {&leaky, 0, "", {"leaky: seep finds"}},
    {&leaky, 0, SPIKE, {"leaky: seep finds"}},
    {&leaky, 0, FOUND("pressure", "aliased-cache", "collate"), {"leaky: seep finds"}},
    {&leaky, 0, FOUND("info", "aliased-cache", "collate"), {"leaky: seep finds"}},
    {&leaky,
     0,
     FOUND("retention", "aliased-cache", "main") ", " KEPT,
     {"leaky: in the function", "leaky: seep finds as well"}},
    {&leaky,
     0,
     "{\"severity\": \"retention\", \"pattern\": \"aliased-cache\"}",
     {"leaky: in the function", "leaky: seep finds as well"}},
    {&leaky, 0, KEPT ", " OTHER, {"leaky: seep finds as well"}},
    {&leaky,
     0,
     KEPT ", " FOUND("retention", "aliased-cache", "main"),
     {"leaky: seep finds as well"}},
    {&leaky, 0, NULL, {"leaky: seep's report"}},
    {&unsure, 0, "", {NULL}},
    {&unsure, EXITED(1), "", {NULL}},
    {&unsure, EXITED(2), "", {"unsure: the job"}},
    {&unsure, SIGKILL, "", {"unsure: the job"}},
    {&leaky, EXITED(1), KEPT, {"leaky: the job"}},
    {&leaky, SIGKILL, KEPT, {"leaky: the job"}},
    {&leaky, EXITED(128 + SIGSEGV), KEPT, {"leaky: the job"}},
    {&two, 0, KEPT ", " OTHER, {NULL}},
    {&two, 0, OTHER, {"two: seep finds"}},
    {&two, 0, KEPT ", " FOUND("leak", "growth", "x"), {"two: seep finds as well"}},
    {&peaky, 0, SPIKE, {NULL}},
    {&peaky, 0, SPIKE ", " OTHER, {"peaky: seep finds as well"}},
    {&peaky, 0, FOUND("leak", "size-spike", "pad"), {"peaky: seep finds"}},
    {&fixed, 0, "", {NULL}},
    {&fixed, 0, SPIKE, {NULL}},
    {&fixed, 0, KEPT, {"fixed: seep finds"}},
    {&long_one, 0, "", {NULL}},
    {&long_one, 0, SPIKE, {NULL}},
    {&long_one, 0, OTHER, {"long: seep finds as well"}},
    {&smooth, 0, "", {NULL}},
    {&smooth, 0, FOUND("pressure", "carry-over", "main"), {NULL}},
    {&smooth, 0, SPIKE, {"smooth: seep finds"}},
    {&smooth, 0, KEPT, {"smooth: seep finds"}},
    {&fixed, 0, NULL, {"fixed: seep's report"}},
    {&failing, EXITED(1), "", {NULL}},
    {&failing, 0, "", {"failing: the job"}},
    {&failing, EXITED(2), "", {"failing: the job"}},
    {&failing, SIGKILL, "", {"failing: the job"}},
    {&failing, EXITED(128 + SIGABRT), "", {"failing: the job"}},
    {&failing, EXITED(1), OTHER, {"failing: seep finds"}},
};

static struct seep_rows rows;
static struct seep_outcome outcome;

static bool judge(const struct seep_variant *variant, int status, const char *findings)
{
    char text[2048];

    snprintf(text, sizeof text, "{\"findings\": [%s]}", findings ? findings : "");
    rows = (struct seep_rows){.scenario = "made-up", .rows = json_array()};
    outcome = (struct seep_outcome){.variant = variant, .status = status};
    if (findings) {
        outcome.report = json_loads(text, 0, NULL);
        ck_assert_ptr_nonnull(outcome.report);
    }
    return seep_trial_judge(&outcome, 0.002, &rows);
}

static void tear_down(void)
{
    json_decref(outcome.report);
    json_decref(rows.rows);
}

/* Exactly those lines fail, so a verdict never passes, or fails, for another reason. */
TEST(a_variant_holds_only_with_its_own_finding_and_no_other_accusation, .to = N(cases))
{
    const json_t *row;
    const char *const *failed = cases[_i].failed;
    unsigned n_failed = failed[1] ? 2 : failed[0] ? 1 : 0;
    size_t i;
    bool holds = judge(cases[_i].variant, cases[_i].status, cases[_i].findings);

    ck_assert_int_eq(holds, n_failed == 0);
    ck_assert_uint_ge(json_array_size(rows.rows), 2);
    json_array_foreach (rows.rows, i, row) {
        const char *name = seep_rows_text(row, "name");
        bool expected = false;
        for (unsigned k = 0; k < n_failed; k++)
            expected |= strcmp(name, failed[k]) == 0;
        ck_assert_msg(json_is_true(json_object_get(row, "pass")) == !expected, "%s: %s", name,
                      seep_rows_text(row, "measured"));
    }
    ck_assert_uint_eq(rows.n_failed, n_failed);
    tear_down();
}

TEST(from_its_least_scale_on_the_finding_must_be_there)
{
    judge(&long_one, 0, "");
    rows.n_failed = 0;
    ck_assert(!seep_trial_judge(&outcome, 0.01, &rows));
    ck_assert_uint_eq(rows.n_failed, 1);
    tear_down();
}

TEST(a_line_names_what_was_found_instead)
{
    judge(&leaky, EXITED(128 + SIGSEGV), SPIKE ", " OTHER);
    ck_assert_str_eq(seep_rows_text(rows.rows, "0.measured"), "signal 11 ends it");
    ck_assert_str_eq(seep_rows_text(rows.rows, "1.measured"),
                     "pressure size-spike in pad, leak unbounded-growth in elsewhere");
    ck_assert_str_eq(seep_rows_text(rows.rows, "2.measured"), "leak unbounded-growth in elsewhere");
    ck_assert_uint_eq(rows.n_failed, 3);
    tear_down();
}

TEST(a_list_of_findings_of_any_length_is_shown_whole)
{
    char text[2048], *end = text;

    for (int i = 0; i < 12; i++)
        end += sprintf(end, "%s" FOUND("leak", "unbounded-growth", "fonction_\u00e9tag\u00e9e_%d"),
                       i ? ", " : "", i);
    judge(&fixed, 0, text);
    ck_assert_uint_eq(json_array_size(rows.rows), 2);
    ck_assert_ptr_nonnull(strstr(seep_rows_text(rows.rows, "1.measured"), "fonction_étagée_11"));
    tear_down();
}

SUITE("trial_judge")
