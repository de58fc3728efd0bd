/* Comparing and judging, on made-up reports. Long, for it is mostly tables of cases. */
#include "libprof/document/report_pairs.h"
#include "libprof/document/report_view.h"
#include "libprof/export/check_printers.h"
#include "libprof/gate/fix_verdict.h"
#include "libprof/gate/gate.h"
#include "libprof/gate/site_diff.h"
#include "tests/gate/budget_fixture.h"
#include "tests/suite.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static json_t *base, *report, *check;

static json_t *frame(const char *function, const char *file, int line)
{
    return json_pack("{s:s, s:s, s:s, s:i}", "kind", "python", "function", function, "file", file,
                     "line", line);
}

static json_t *slope(double value, double low, double high)
{
    return json_pack("{s:f, s:f, s:f}", "value", value, "low", low, "high", high);
}

static json_t *space(int peak, double value, double low, double high)
{
    return json_pack("{s:i, s:o}", "peak_bytes", peak, "growth_bytes_per_step",
                     slope(value, low, high));
}

/* A finished job of 100 steps: a trainer and a worker, host grows by 1000 (900 to 1100) a step. */
static json_t *make_report(void)
{
    return json_pack("{s:s, s:{s:[s,s,s], s:s, s:b, s:i, s:s, s:i},"
                     " s:[{s:i, s:s, s:{s:s, s:i}, s:{s:o}}, {s:i, s:s, s:{s:s, s:i}, s:{s:o}}],"
                     " s:{s:o}, s:[], s:[]}",
                     "format", "seep-report", "job", "command", "python3", "train.py", "--fast",
                     "cwd", "/work", "complete", 1, "dropped_events", 0, "step_source", "optimizer",
                     "steps", 100, "processes", "pid", 10, "role", "trainer", "exit", "kind",
                     "exit", "value", 0, "spaces", "host", space(1 << 20, 900, 800, 1000), "pid",
                     11, "role", "loader-worker", "exit", "kind", "exit", "value", 0, "spaces",
                     "host", space(1 << 19, 100, 50, 150), "spaces", "host",
                     space(1 << 20, 1000, 900, 1100), "findings", "sites");
}

static json_t *add_finding(json_t *to, const char *pattern, const char *severity,
                           const char *function, int line, int live)
{
    json_t *list = json_object_get(to, "findings");
    char id[16];

    snprintf(id, sizeof id, "F%zu", json_array_size(list) + 1);
    json_t *finding =
        json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:i, s:o, s:[s], s:s}", "id", id, "pattern",
                  pattern, "severity", severity, "title", "grows", "space", "host", "frame",
                  frame(function, "/home/user/data/index.py", line), "live_bytes", live,
                  "growth_bytes_per_step", slope(0, 0, 0), "evidence", "seen", "advice", "stop it");
    json_array_append_new(list, finding);
    return finding;
}

static json_t *add_site(json_t *to, const char *space_name, const char *function, int line,
                        int retained)
{
    json_t *list = json_object_get(to, "sites");
    char id[16];

    snprintf(id, sizeof id, "S%zu", json_array_size(list) + 1);
    json_t *site = json_pack(
        "{s:s, s:s, s:s, s:[o,o], s:i, s:i, s:i, s:f, s:{s:f, s:f}, s:[i], s:i, s:i}", "id", id,
        "space", space_name, "role", "dataset", "stack", frame("alloc", "/usr/lib/library.py", 3),
        frame(function, "/home/user/data/index.py", line), "look_at", 1, "retained_bytes", retained,
        "peak_bytes", retained, "growth_bytes_per_step", 0.0, "growth_interval_bytes_per_step",
        "low", 0.0, "high", 0.0, "processes", 10, "allocations", 1, "allocated_bytes", retained);
    json_array_append_new(list, site);
    return site;
}

static void setup(void)
{
    memset(&err, 0, sizeof err);
    budget = (struct seep_budget){0};
    base = make_report();
    report = make_report();
    check = NULL;
}

static void teardown(void)
{
    seep_budget_fini(&budget);
    json_decref(base);
    json_decref(report);
    json_decref(check);
}

static int judge(bool with_baseline)
{
    struct seep_gate gate = {
        .report = report, .baseline = with_baseline ? base : NULL, .budget = &budget};

    json_decref(check);
    check = NULL;
    err.text[0] = '\0';
    return seep_gate_judge(&gate, &check, &err);
}

static void judged(bool with_baseline, const char *verdict)
{
    ck_assert_msg(judge(with_baseline) == 0, "%s", err.text);
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), verdict);
}

static const char *line_verdict(size_t i)
{
    return seep_get_text(json_array_get(json_object_get(check, "lines"), i), "verdict", "");
}

/* ---- judging ----------------------------------------------------------------------------- */

START_TEST(without_a_budget_leaks_and_retention_fail_and_nothing_else)
{
    judged(false, "holds");
    add_finding(report, "size-spike", "pressure", "load", 1, 1 << 20);
    add_finding(report, "legitimate-growth", "info", "grow", 1, 1 << 20);
    judged(false, "holds");
    add_finding(report, "first-touch-cache", "retention", "load", 5, 1 << 20);
    judged(false, "violated");
    json_t *findings = json_object_get(check, "findings");
    ck_assert_str_eq(seep_get_text(json_array_get(findings, 0), "verdict", ""), "holds");
    ck_assert_str_eq(seep_get_text(json_array_get(findings, 2), "verdict", ""), "violated");
    ck_assert_ptr_null(json_object_get(json_array_get(json_object_get(report, "findings"), 2),
                                       "verdict")); /* the report is left alone */
}
END_TEST

START_TEST(a_growth_fails_only_when_its_interval_is_above_the_budget)
{
    static const struct {
        const char *text, *verdict, *line;
    } cases[] = {{"host=1200", "holds", "holds"},      {"host=1000", "holds", "holds"},
                 {"host=950", "holds", "noise"},       {"host=900", "holds", "noise"},
                 {"host=899", "violated", "violated"}, {"host=0", "violated", "violated"},
                 {"shm=0", "holds", "holds"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seep_budget_fini(&budget);
        option(SEEP_BUDGET_GROWTH, cases[i].text);
        judged(false, cases[i].verdict);
        ck_assert_str_eq(line_verdict(0), cases[i].line);
    }
}
END_TEST

START_TEST(a_peak_fails_above_its_budget)
{
    option(SEEP_BUDGET_PEAK, "host=1MiB");
    judged(false, "holds");
    option(SEEP_BUDGET_PEAK, "host=1048575");
    judged(false, "violated");
    ck_assert_str_eq(line_verdict(0), "violated");
}
END_TEST

START_TEST(a_budget_alone_does_not_ask_for_findings)
{
    add_finding(report, "unbounded-growth", "leak", "load", 1, 1 << 20);
    option(SEEP_BUDGET_PEAK, "host=1GiB");
    judged(false, "holds");
    option(SEEP_BUDGET_FINDINGS, "leak=1");
    judged(false, "holds");
    option(SEEP_BUDGET_FINDINGS, "leak=0");
    judged(false, "violated");
}
END_TEST

START_TEST(each_process_of_a_role_is_held_against_its_budget)
{
    static const char *const text[] = {
        "[process.loader-worker.host]\npeak = 524287\n",
        "[process.loader-worker.host]\npeak = 524288\n", "[process.trainer.host]\ngrowth = 799\n",
        "[process.trainer.host]\ngrowth = 800\n", "[process.rank.host]\npeak = 1\n"};
    static const char *const verdict[] = {"violated", "holds", "violated", "holds", "holds"};

    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(read_text(text[i], strlen(text[i])), 0);
        judged(false, verdict[i]);
    }
}
END_TEST

START_TEST(ignored_findings_do_not_count_and_keep_their_reason)
{
    static const char rules[] = "[[ignore]]\npattern = 'first-touch-cache'\nfile = 'data/*.py'\n"
                                "function = 'lo*'\nreason = 'bounded'\n";

    ck_assert_int_eq(read_text(rules, strlen(rules)), 0);
    add_finding(report, "first-touch-cache", "retention", "load", 5, 1 << 20);
    judged(false, "holds");
    const json_t *first = json_array_get(json_object_get(check, "findings"), 0);
    ck_assert_str_eq(seep_get_text(first, "verdict", ""), "ignored");
    ck_assert_str_eq(seep_get_text(first, "reason", ""), "bounded");
    add_finding(report, "first-touch-cache", "retention", "read", 9, 1 << 20);
    judged(false, "violated");
}
END_TEST

START_TEST(what_cannot_be_judged_is_neither)
{
    json_t *job = json_object_get(report, "job");

    budget.min_steps = 101;
    ck_assert_int_eq(judge(false), -SEEP_ENODATA);
    budget.min_steps = 100;
    ck_assert_int_eq(judge(false), 0);
    json_object_set_new(job, "complete", json_false());
    ck_assert_int_eq(judge(false), -SEEP_ENODATA);
    budget.allow_incomplete = true;
    ck_assert_int_eq(judge(false), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(check, "notes")), 1);
    json_object_set_new(json_object_get(json_object_get(report, "spaces"), "host"),
                        "growth_bytes_per_step", json_null());
    ck_assert_int_eq(judge(false), -SEEP_ENODATA);
    add_finding(report, "eager-retention", "retention", "load", 5, 1 << 20);
    ck_assert_int_eq(judge(false), 0); /* what is found is found */
    option(SEEP_BUDGET_PEAK, "host=1GiB");
    ck_assert_int_eq(judge(false), 0);
    option(SEEP_BUDGET_GROWTH, "host=1GiB");
    ck_assert_int_eq(judge(false), -SEEP_ENODATA);
    json_object_set_new(job, "steps", json_integer(0));
    budget.min_steps = 0;
    ck_assert_int_eq(judge(false), -SEEP_ENODATA);
}
END_TEST

START_TEST(anything_that_is_no_report_is_no_crash)
{
    static const char *const texts[] = {
        "{}", "[]", "{\"job\": 1, \"findings\": {}, \"sites\": 7}",
        "{\"job\": {\"steps\": 5, \"complete\": true}, \"findings\": "
        "[1, null, {}], \"processes\": [[], 3], \"spaces\": []}"};

    for (int i = 0; i < 4; i++) {
        json_decref(report);
        report = json_loads(texts[i], 0, NULL);
        ck_assert_ptr_nonnull(report);
        int rc = judge(true);
        ck_assert(rc == 0 || rc == -SEEP_ENODATA || rc == -SEEP_EINVAL);
        json_t *out = NULL;
        if (seep_diff(base, report, false, &out) == 0)
            json_decref(out);
    }
}
END_TEST

/* ---- baseline ---------------------------------------------------------------------------- */

START_TEST(the_same_run_is_within_its_baseline)
{
    add_finding(base, "unbounded-growth", "leak", "load", 5, 1 << 20);
    add_finding(report, "unbounded-growth", "leak", "load", 50, (1 << 20) + 60000);
    add_site(base, "host", "load", 5, 1 << 20);
    add_site(report, "host", "load", 50, (1 << 20) + 60000);
    judged(true, "holds");
}
END_TEST

START_TEST(what_is_new_or_has_grown_is_violated)
{
    static const struct {
        int before, after; /* 0: not there */
        const char *verdict;
    } cases[] = {{0, 1 << 20, "violated"},           {1 << 20, 2 << 20, "violated"},
                 {2 << 20, 1 << 20, "holds"},        {100 << 20, 105 << 20, "holds"},
                 {100 << 20, 111 << 20, "violated"}, {0, 60 * 1024, "holds"}};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        json_array_clear(json_object_get(base, "sites"));
        json_array_clear(json_object_get(report, "sites"));
        if (cases[i].before)
            add_site(base, "host", "load", 5, cases[i].before);
        add_site(report, "host", "load", 6, cases[i].after);
        judged(true, cases[i].verdict);
        ck_assert_uint_eq(json_array_size(json_object_get(check, "lines")), 1);
    }
}
END_TEST

START_TEST(a_new_finding_is_violated_once_and_its_site_is_not_told_again)
{
    add_finding(report, "unbounded-growth", "leak", "load", 5, 1 << 20);
    add_finding(report, "size-spike", "pressure", "spike", 7, 1 << 20);
    add_site(report, "host", "load", 5, 1 << 20);
    judged(true, "violated");
    ck_assert_uint_eq(json_array_size(json_object_get(check, "lines")), 1);
    ck_assert_str_eq(
        seep_get_text(json_array_get(json_object_get(check, "findings"), 0), "verdict", ""),
        "violated");
}
END_TEST

START_TEST(a_growth_above_the_old_interval_is_violated)
{
    static const struct {
        double value, low, high;
        const char *verdict;
    } cases[] = {
        {5000, 4000, 6000, "violated"}, {5000, 500, 9000, "holds"}, {100, 90, 110, "holds"}};

    for (size_t i = 0; i < 3; i++) {
        json_array_clear(json_object_get(base, "sites"));
        json_array_clear(json_object_get(report, "sites"));
        json_t *was = add_site(base, "host", "load", 5, 1 << 20);
        json_t *is = add_site(report, "host", "load", 5, 1 << 20);
        json_object_set_new(was, "growth_interval_bytes_per_step",
                            json_pack("{s:f, s:f}", "low", -1000.0, "high", 1000.0));
        json_object_set_new(is, "growth_bytes_per_step", json_real(cases[i].value));
        json_object_set_new(is, "growth_interval_bytes_per_step",
                            json_pack("{s:f, s:f}", "low", cases[i].low, "high", cases[i].high));
        judged(true, cases[i].verdict);
    }
}
END_TEST

START_TEST(arenas_of_the_interpreter_may_be_taken_anywhere)
{
    for (int i = 0; i < 8; i++) {
        char name[16];
        snprintf(name, sizeof name, "f%d", i);
        add_site(base, "mmap", name, 5, 1 << 20);
        snprintf(name, sizeof name, "g%d", i);
        add_site(report, "mmap", name, 5, 1 << 20);
    }
    judged(true, "holds");
    for (int i = 0; i < 5; i++) {
        judged(true, "holds");
        add_site(report, "mmap", "h", 5, 1 << 20);
    }
    judged(true, "violated");
}
END_TEST

START_TEST(a_baseline_of_another_job_is_refused)
{
    json_t *job = json_object_get(base, "job");

    json_object_set_new(job, "command",
                        json_pack("[s,s,s]", "python3.12", "/x/train.py", "--slow"));
    ck_assert_int_eq(judge(true), 0);
    json_object_set_new(job, "steps", json_integer(89));
    ck_assert_int_eq(judge(true), -SEEP_EINVAL);
    json_object_set_new(job, "steps", json_integer(90));
    ck_assert_int_eq(judge(true), 0);
    json_object_set_new(job, "step_source", json_string("api"));
    ck_assert_int_eq(judge(true), -SEEP_EINVAL);
    json_object_set_new(job, "step_source", json_string("optimizer"));
    json_object_set_new(job, "command", json_pack("[s,s]", "python3", "test.py"));
    ck_assert_int_eq(judge(true), -SEEP_EINVAL);
    json_object_set_new(job, "command", json_pack("[s,s,s]", "python3", "-m", "train"));
    ck_assert_int_eq(judge(true), -SEEP_EINVAL);
    ck_assert_ptr_nonnull(strstr(err.text, "train.py"));
    json_decref(base);
    base = make_report();
    json_object_set_new(json_array_get(json_object_get(base, "processes"), 1), "role",
                        json_string("rank"));
    ck_assert_int_eq(judge(true), -SEEP_EINVAL);
    json_object_set_new(json_object_get(base, "job"), "complete", json_false());
    ck_assert_int_eq(judge(true), -SEEP_ENODATA);
}
END_TEST

/* ---- pairs ------------------------------------------------------------------------------- */

START_TEST(two_findings_of_one_function_are_told_apart_by_their_lines)
{
    json_t *pairs;

    add_finding(base, "unbounded-growth", "leak", "load", 5, 100);
    add_finding(base, "unbounded-growth", "leak", "load", 9, 200);
    add_finding(report, "unbounded-growth", "leak", "load", 9, 201);
    ck_assert_int_eq(seep_compare_findings(base, report, &pairs), 0);
    ck_assert_uint_eq(json_array_size(pairs), 2);
    ck_assert(json_is_null(json_object_get(json_array_get(pairs, 0), "after")));
    const json_t *after = json_object_get(json_array_get(pairs, 1), "after");
    ck_assert_int_eq((int)seep_get_number(after, "live_bytes"), 201);
    json_decref(pairs);
}
END_TEST

START_TEST(a_finding_is_known_by_its_pattern_before_its_place_alone)
{
    json_t *pairs;

    add_finding(base, "first-touch-cache", "retention", "load", 5, 100);
    add_finding(report, "aliased-cache", "retention", "load", 5, 1);
    add_finding(report, "first-touch-cache", "retention", "load", 6, 2);
    ck_assert_int_eq(seep_compare_findings(base, report, &pairs), 0);
    ck_assert_uint_eq(json_array_size(pairs), 2);
    ck_assert_int_eq(
        (int)seep_get_number(json_object_get(json_array_get(pairs, 0), "after"), "live_bytes"), 2);
    json_decref(pairs);
}
END_TEST

START_TEST(the_fingerprint_stays_when_lines_and_folders_move)
{
    json_t *a = add_finding(base, "unbounded-growth", "leak", "load", 5, 100);
    json_t *b = add_finding(report, "unbounded-growth", "leak", "load", 77, 300);

    json_object_set_new(b, "frame", frame("load", "/elsewhere/index.py", 77));
    ck_assert_uint_eq(seep_compare_fingerprint(a), seep_compare_fingerprint(b));
    json_object_set_new(b, "pattern", json_string("first-touch-cache"));
    ck_assert_uint_ne(seep_compare_fingerprint(a), seep_compare_fingerprint(b));
}
END_TEST

START_TEST(a_difference_lists_what_changed_largest_first)
{
    json_t *diff;

    add_site(base, "host", "same", 1, 5000);
    add_site(report, "host", "same", 2, 5000);
    add_site(base, "host", "less", 1, 90000);
    add_site(report, "host", "more", 1, 7000);
    ck_assert_int_eq(seep_diff(base, report, false, &diff), 0);
    json_t *sites = json_object_get(diff, "sites");
    ck_assert_uint_eq(json_array_size(sites), 2);
    ck_assert_int_eq((int)seep_get_number(json_array_get(sites, 0), "retained_bytes_change"),
                     -90000);
    ck_assert_int_eq((int)seep_get_number(json_array_get(sites, 1), "retained_bytes_change"), 7000);
    json_decref(diff);
}
END_TEST

/* ---- verify ------------------------------------------------------------------------------ */

/* What BEFORE and AFTER have at load(): pattern and severity, NULL for nothing. */
static const struct {
    const char *before, *was, *after, *is;
    int rc;
    const char *verdict;
} fixes[] = {
    {"unbounded-growth", "leak", NULL, NULL, 0, "fixed"},
    {"unbounded-growth", "leak", "unbounded-growth", "leak", 0, "not-fixed"},
    {"unbounded-growth", "leak", "first-touch-cache", "retention", 0, "not-fixed"},
    {"unbounded-growth", "leak", "legitimate-growth", "info", 0, "fixed"},
    {"eager-retention", "retention", "worker-multiplication", "pressure", 0, "fixed"},
    {"worker-multiplication", "pressure", "worker-multiplication", "pressure", 0, "not-fixed"},
    {"worker-multiplication", "pressure", NULL, NULL, 0, "fixed"},
    {NULL, NULL, "unbounded-growth", "leak", 0, "not-fixed"},
    {"undetermined", "info", "unbounded-growth", "leak", 0, "not-fixed"},
    {NULL, NULL, NULL, NULL, -SEEP_ENODATA, ""},
    {"carry-over", "info", NULL, NULL, 0, "fixed"},
    {"carry-over", "info", "carry-over", "info", 0, "not-fixed"},
    {"legitimate-growth", "info", NULL, NULL, -SEEP_ENODATA, ""},
    {NULL, NULL, "legitimate-growth", "info", -SEEP_ENODATA, ""},
    {NULL, NULL, "size-spike", "pressure", 0, "not-fixed"},
    {NULL, NULL, "carry-over", "info", 0, "not-fixed"},
};

START_TEST(a_fix_is_judged_by_what_vanished_remains_and_is_new)
{
    if (fixes[_i].before)
        add_finding(base, fixes[_i].before, fixes[_i].was, "load", 5, 1 << 20);
    if (fixes[_i].after)
        add_finding(report, fixes[_i].after, fixes[_i].is, "load", 6, 1 << 20);
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), fixes[_i].rc);
    if (!fixes[_i].rc)
        ck_assert_str_eq(seep_get_text(check, "verdict", ""), fixes[_i].verdict);
}
END_TEST

START_TEST(a_fix_that_brings_another_leak_is_none)
{
    add_finding(base, "unbounded-growth", "leak", "load", 5, 1 << 20);
    add_finding(report, "unbounded-growth", "leak", "other", 5, 1 << 20);
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), 0);
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), "not-fixed");
}
END_TEST

START_TEST(a_predicted_saving_is_held_against_the_fall_of_the_peak)
{
    static const struct {
        int predicted;
        bool agrees;
    } cases[] = {{524288, true}, {480000, true}, {570000, true}, {400000, false}, {700000, false}};

    json_object_set_new(json_object_get(json_object_get(report, "spaces"), "host"), "peak_bytes",
                        json_integer(1 << 19));
    json_t *finding = add_finding(base, "eager-retention", "retention", "load", 5, 1 << 19);
    for (size_t i = 0; i < 5; i++) {
        json_object_set_new(finding, "saving_bytes", json_integer(cases[i].predicted));
        json_decref(check);
        ck_assert_int_eq(seep_verify(base, report, false, &check, &err), 0);
        const json_t *saving = json_array_get(json_object_get(check, "savings"), 0);
        ck_assert_int_eq((int)seep_get_number(saving, "measured_bytes"), 1 << 19);
        ck_assert_int_eq(json_is_true(json_object_get(saving, "agrees")), cases[i].agrees);
    }
}
END_TEST

START_TEST(runs_that_cannot_be_compared_are_refused)
{
    add_finding(base, "unbounded-growth", "leak", "load", 5, 1 << 20);
    json_object_set_new(json_object_get(report, "job"), "steps", json_integer(50));
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), -SEEP_EINVAL);
    json_object_set_new(json_object_get(report, "job"), "steps", json_integer(0));
    err.text[0] = '\0';
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), -SEEP_ENODATA);
    ck_assert_ptr_nonnull(strstr(err.text, "after: "));
    json_object_set_new(json_array_get(json_object_get(base, "processes"), 0), "exit",
                        json_pack("{s:s, s:n}", "kind", "running", "value"));
    err.text[0] = '\0';
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), -SEEP_ENODATA);
    ck_assert_ptr_nonnull(strstr(err.text, "before: the job still runs"));
}
END_TEST

/* ---- formats ----------------------------------------------------------------------------- */

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

static Suite *gate_suite(void)
{
    Suite *suite = suite_create("gate");
    TCase *cases = tcase_create("gate");
    int n_fixes = sizeof fixes / sizeof *fixes;

    tcase_add_checked_fixture(cases, setup, teardown);
    tcase_add_test(cases, without_a_budget_leaks_and_retention_fail_and_nothing_else);
    tcase_add_test(cases, a_growth_fails_only_when_its_interval_is_above_the_budget);
    tcase_add_test(cases, a_peak_fails_above_its_budget);
    tcase_add_test(cases, a_budget_alone_does_not_ask_for_findings);
    tcase_add_test(cases, each_process_of_a_role_is_held_against_its_budget);
    tcase_add_test(cases, ignored_findings_do_not_count_and_keep_their_reason);
    tcase_add_test(cases, what_cannot_be_judged_is_neither);
    tcase_add_test(cases, anything_that_is_no_report_is_no_crash);
    tcase_add_test(cases, the_same_run_is_within_its_baseline);
    tcase_add_test(cases, what_is_new_or_has_grown_is_violated);
    tcase_add_test(cases, a_new_finding_is_violated_once_and_its_site_is_not_told_again);
    tcase_add_test(cases, a_growth_above_the_old_interval_is_violated);
    tcase_add_test(cases, arenas_of_the_interpreter_may_be_taken_anywhere);
    tcase_add_test(cases, a_baseline_of_another_job_is_refused);
    tcase_add_test(cases, two_findings_of_one_function_are_told_apart_by_their_lines);
    tcase_add_test(cases, a_finding_is_known_by_its_pattern_before_its_place_alone);
    tcase_add_test(cases, the_fingerprint_stays_when_lines_and_folders_move);
    tcase_add_test(cases, a_difference_lists_what_changed_largest_first);
    tcase_add_loop_test(cases, a_fix_is_judged_by_what_vanished_remains_and_is_new, 0, n_fixes);
    tcase_add_test(cases, a_fix_that_brings_another_leak_is_none);
    tcase_add_test(cases, a_predicted_saving_is_held_against_the_fall_of_the_peak);
    tcase_add_test(cases, runs_that_cannot_be_compared_are_refused);
    tcase_add_loop_test(cases, hostile_texts_stay_texts_in_every_format, 0, 4);
    suite_add_tcase(suite, cases);
    return suite;
}

int main(void)
{
    return suite_run(gate_suite());
}
