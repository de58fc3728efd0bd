/* Checking a report against budgets and an older report. */
#include "tests/gate/gate_fixture.h"

static int judge(bool with_baseline)
{
    struct seep_gate gate = {
        .report = report, .baseline.report = with_baseline ? base : NULL, .budget = &budget};

    json_decref(check);
    check = NULL;
    err.text[0] = '\0';
    return seep_gate_check(&gate, &check, &err);
}

static void judged(bool with_baseline, const char *verdict)
{
    ck_assert_msg(judge(with_baseline) == 0, "%s", err.text);
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), verdict);
}

/* … and says why. */
static void unknown(const char *why)
{
    judged(false, "unknown");
    ck_assert_msg(strstr(seep_get_text(check, "reason", ""), why) != NULL, "%s",
                  seep_get_text(check, "reason", ""));
}

static const char *line_verdict(size_t i)
{
    return seep_get_text(json_array_get(json_object_get(check, "lines"), i), "verdict", "");
}

/* ---- judging ------------------------------------------------------------------------------ */

TEST(without_a_budget_leaks_and_retention_fail_and_nothing_else)
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

TEST(a_growth_fails_only_when_its_interval_is_above_the_budget)
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

TEST(a_peak_fails_above_its_budget)
{
    option(SEEP_BUDGET_PEAK, "host=1MiB");
    judged(false, "holds");
    option(SEEP_BUDGET_PEAK, "host=1048575");
    judged(false, "violated");
    ck_assert_str_eq(line_verdict(0), "violated");
}

/* 2 MiB without seep's own. */
static void set_rss(double growth)
{
    json_t *coverage = json_object();

    json_object_set_new(report, "coverage", coverage);
    json_object_set_new(coverage, "rss",
                        json_pack("{s:i, s:i, s:{s:f, s:f, s:f}}", "highest_bytes", 3 << 20,
                                  "seep_bytes", 1 << 20, "growth_bytes_per_step", "value", growth,
                                  "low", growth - 100, "high", growth + 100));
}

TEST(what_is_resident_has_budgets_like_a_space)
{
    set_rss(1000);
    option(SEEP_BUDGET_GROWTH, "rss=950");
    option(SEEP_BUDGET_PEAK, "rss=2MiB");
    judged(false, "holds");
    ck_assert_str_eq(line_verdict(0), "noise");
    option(SEEP_BUDGET_GROWTH, "rss=800");
    judged(false, "violated");
    seep_budget_fini(&budget);
    option(SEEP_BUDGET_PEAK, "rss=2097151");
    judged(false, "violated");
}

TEST(a_report_that_does_not_say_how_rss_grows_cannot_be_judged_by_that)
{
    option(SEEP_BUDGET_GROWTH, "rss=1GiB");
    unknown("too few");
}

TEST(a_budget_alone_does_not_ask_for_findings)
{
    add_finding(report, "unbounded-growth", "leak", "load", 1, 1 << 20);
    option(SEEP_BUDGET_PEAK, "host=1GiB");
    judged(false, "holds");
    option(SEEP_BUDGET_FINDINGS, "leak=1");
    judged(false, "holds");
    option(SEEP_BUDGET_FINDINGS, "leak=0");
    judged(false, "violated");
}

/* Whether it died of it or caught the error: only who says how often it may is content. */
TEST(a_job_that_ran_out_of_memory_is_violated_unless_that_is_allowed)
{
    static const struct {
        enum seep_budget_kind kind;
        const char *text, *verdict;
    } cases[] = {{SEEP_BUDGET_PEAK, "host=1GiB", "violated"},
                 {SEEP_BUDGET_FINDINGS, "leak=9", "violated"},
                 {SEEP_BUDGET_FINDINGS, "out-of-memory=0", "violated"},
                 {SEEP_BUDGET_FINDINGS, "out-of-memory=1", "holds"}};

    add_finding(report, "out-of-memory", "pressure", "forward", 3, 1 << 20);
    judged(false, "violated");
    ck_assert_str_eq(
        seep_get_text(json_array_get(json_object_get(check, "findings"), 0), "verdict", ""),
        "violated");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seep_budget_fini(&budget);
        option(cases[i].kind, cases[i].text);
        judged(false, cases[i].verdict);
    }
    add_finding(report, "unbounded-growth", "leak", "load", 1, 1 << 20);
    judged(false, "violated"); /* nothing else is allowed by that */
}

TEST(a_kill_for_lack_of_memory_counts_as_running_out_of_it)
{
    json_object_set_new(json_object_get(report, "job"), "oom_kills", json_integer(2));
    judged(false, "violated");
    const json_t *line = json_array_get(json_object_get(check, "lines"), 2);
    ck_assert_str_eq(seep_get_text(line, "pattern", ""), "out-of-memory");
    ck_assert_ptr_nonnull(strstr(seep_get_text(line, "text", ""), "the kernel killed 2 processes"));
    option(SEEP_BUDGET_FINDINGS, "out-of-memory=1");
    judged(false, "violated");
    option(SEEP_BUDGET_FINDINGS, "out-of-memory=2");
    judged(false, "holds");
}

TEST(what_is_violated_stays_so_where_the_rest_cannot_be_judged)
{
    json_object_set_new(json_object_get(json_object_get(report, "spaces"), "host"),
                        "growth_bytes_per_step", json_null());
    option(SEEP_BUDGET_GROWTH, "host=1GiB");
    unknown("too few");
    add_finding(report, "out-of-memory", "pressure", "forward", 3, 1 << 20);
    budget.min_steps = 1000;
    judged(false, "violated");
    const json_t *note = json_array_get(json_object_get(check, "notes"), 0);
    ck_assert_ptr_nonnull(strstr(json_string_value(note), "too few"));
}

/* A report lists 32, and counts the others. */
TEST(findings_that_are_not_listed_count)
{
    static const struct {
        const char *text, *verdict;
    } cases[] = {{"leak=40", "violated"},
                 {"leak=41", "violated"},
                 {"leak=42", "holds"},
                 {"pressure=0", "holds"},
                 {"info=4", "violated"}};

    for (int i = 0; i < 32; i++)
        add_finding(report, "unbounded-growth", "leak", "load", i, 1 << 20);
    json_object_set_new(
        report, "findings_left_out",
        json_pack("{s:i, s:i, s:i, s:i}", "leak", 10, "retention", 0, "pressure", 0, "info", 5));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        seep_budget_fini(&budget);
        option(SEEP_BUDGET_FINDINGS, cases[i].text);
        judged(false, cases[i].verdict);
    }
    const json_t *note = json_array_get(json_object_get(check, "notes"), 0);
    ck_assert_ptr_nonnull(strstr(json_string_value(note), "15 more findings are counted"));
}

TEST(each_process_of_a_role_is_held_against_its_budget)
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

/* What it would have kept later was not seen. */
TEST(a_job_that_failed_shows_nothing)
{
    json_t *job = json_object_get(report, "job");
    json_t *process = json_array_get(json_object_get(report, "processes"), 0);

    json_object_set_new(process, "exit",
                        json_pack("{s:s, s:i, s:b, s:s}", "kind", "exit", "value", 1, "failed", 1,
                                  "text", "ended with status 1"));
    unknown("failed after 100 steps (ended with status 1)");
    json_object_set_new(job, "step_source", json_string("time"));
    unknown("failed before its first step");
    option(SEEP_BUDGET_PEAK, "host=1GiB");
    unknown("failed before its first step");
    budget.allow_incomplete = true;
    judged(false, "holds");
    option(SEEP_BUDGET_PEAK, "host=1");
    judged(false, "violated");
}

TEST(time_slices_do_not_show_that_nothing_grows)
{
    json_object_set_new(json_object_get(report, "job"), "step_source", json_string("time"));
    unknown("no training step");
    option(SEEP_BUDGET_GROWTH, "host=1GiB"); /* that can be told */
    judged(false, "holds");
}

TEST(what_grows_and_may_go_on_is_no_yes)
{
    json_t *f = add_finding(report, "undetermined", "pressure", "load", 5, 1 << 20);

    judged(false, "holds");
    json_object_set_new(
        f, "growth_bytes_per_step",
        json_pack("{s:f, s:f, s:f}", "value", 2048.0, "low", 2000.0, "high", 2100.0));
    unknown("grows by 2.0 KiB a step");
    option(SEEP_BUDGET_PEAK, "host=1GiB");
    judged(false, "holds");
}

TEST(ignored_findings_do_not_count_and_keep_their_reason)
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

TEST(what_cannot_be_judged_is_neither)
{
    json_t *job = json_object_get(report, "job");

    budget.min_steps = 101;
    unknown("min_steps");
    budget.min_steps = 100;
    ck_assert_int_eq(judge(false), 0);
    json_object_set_new(job, "complete", json_false());
    ck_assert_int_eq(judge(false), -SEEP_ENODATA);
    budget.allow_incomplete = true;
    ck_assert_int_eq(judge(false), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(check, "notes")), 1);
    json_object_set_new(json_object_get(json_object_get(report, "spaces"), "host"),
                        "growth_bytes_per_step", json_null());
    unknown("too few");
    add_finding(report, "eager-retention", "retention", "load", 5, 1 << 20);
    ck_assert_int_eq(judge(false), 0); /* what is found is found */
    option(SEEP_BUDGET_PEAK, "host=1GiB");
    ck_assert_int_eq(judge(false), 0);
    option(SEEP_BUDGET_GROWTH, "host=1GiB");
    unknown("too few");
    json_object_set_new(job, "steps", json_integer(0));
    budget.min_steps = 0;
    ck_assert_int_eq(judge(false), -SEEP_ENODATA);
}

TEST(anything_that_is_no_report_is_no_crash)
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
    }
}

/* ---- baseline ----------------------------------------------------------------------------- */

TEST(the_same_run_is_within_its_baseline)
{
    add_finding(base, "unbounded-growth", "leak", "load", 5, 1 << 20);
    add_finding(report, "unbounded-growth", "leak", "load", 50, (1 << 20) + 60000);
    add_site(base, "host", "load", 5, 1 << 20);
    add_site(report, "host", "load", 50, (1 << 20) + 60000);
    judged(true, "holds");
}

TEST(what_is_new_or_has_grown_is_violated)
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

TEST(a_new_finding_is_violated_once_and_its_site_is_not_told_again)
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

TEST(a_growth_above_the_old_interval_is_violated)
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
        json_object_set_new(was, "growth_bytes_per_step", slope(0, -1000, 1000));
        json_object_set_new(is, "growth_bytes_per_step",
                            slope(cases[i].value, cases[i].low, cases[i].high));
        judged(true, cases[i].verdict);
    }
}

TEST(arenas_of_the_interpreter_may_be_taken_anywhere)
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

TEST(a_baseline_of_another_job_is_refused)
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
    json_object_set_new(job, "steps", json_integer(500));
    ck_assert_int_eq(judge(true), -SEEP_EINVAL);
    json_object_set_new(job, "steps", json_integer(90));
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

TEST(a_loop_may_be_found_later_in_one_run_than_in_another)
{
    json_object_set_new(json_object_get(base, "job"), "step_source", json_string("loop"));
    json_object_set_new(json_object_get(report, "job"), "step_source", json_string("loop"));
    json_object_set_new(json_object_get(base, "job"), "steps", json_integer(200));
    ck_assert_int_eq(judge(true), 0);
    json_object_set_new(json_object_get(base, "job"), "steps", json_integer(300));
    ck_assert_int_eq(judge(true), -SEEP_EINVAL);
}

SUITE("gate", .setup = setup, .teardown = teardown)
