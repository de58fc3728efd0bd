/* Two runs of one job: what a fix has cured, and what changed site by site. */
#include "libprof/gate/fix_verdict.h"
#include "tests/gate/diff_fixture.h"
#include "tests/gate/gate_fixture.h"

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
    {"unbounded-growth", "leak", "out-of-memory", "pressure", 0, "not-fixed"},
    {"allocator-cache", "pressure", "out-of-memory", "pressure", 0, "not-fixed"},
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

TEST(a_fix_is_judged_by_what_vanished_remains_and_is_new, .to = N(fixes))
{
    if (fixes[_i].before)
        add_finding(base, fixes[_i].before, fixes[_i].was, "load", 5, 1 << 20);
    if (fixes[_i].after)
        add_finding(report, fixes[_i].after, fixes[_i].is, "load", 6, 1 << 20);
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), fixes[_i].rc);
    if (!fixes[_i].rc)
        ck_assert_str_eq(seep_get_text(check, "verdict", ""), fixes[_i].verdict);
    if (strcmp(fixes[_i].verdict, "fixed") == 0)
        ck_assert_int_eq(strstr(seep_get_text(check, "why", ""), "none is new") != NULL,
                         !fixes[_i].after); /* what the fixed run's own summary has is not denied */
}

/* What held the memory before and after, how it grew (1), stayed (0) or was not known (-1), how the
 * memory grows after, in which function its line is, and the state of the pair. */
static const struct {
    const char *was, *is;
    int grew, grows;
    double memory;
    const char *function, *verdict;
    size_t n_pairs;
} moves[] = {
    {"history", "history", 1, 0, 0, "load", "fixed", 1},
    {"history", "history", 1, 0, 0, "moved", "fixed", 1},
    {"history", "history", 1, 1, 0, "load", "not-fixed", 1},
    {"history", "history", 1, 1, 0, "moved", "not-fixed", 1},
    {"history", "history", 1, -1, 0, "load", "not-fixed", 1},
    {"history", "history", 0, 0, 0, "load", "not-fixed", 1},
    {"history", "history", 1, 0, 500, "load", "not-fixed", 1}, /* fewer, and larger */
    {"history", "other", 1, 0, 0, "load", "not-fixed", 1},
    {"history", "other", 1, 0, 0, "moved", "not-fixed", 2},
};

TEST(a_holder_that_no_longer_grows_is_a_fix_also_where_the_line_moved, .to = N(moves))
{
    json_t *before = add_finding(base, "unbounded-growth", "leak", "load", 5, 1 << 20);
    json_t *after =
        add_finding(report, "first-touch-cache", "retention", moves[_i].function, 9, 1 << 18);

    add_holders(before, moves[_i].was, moves[_i].grew);
    add_holders(after, moves[_i].is, moves[_i].grows);
    json_object_set_new(after, "growth_bytes_per_step",
                        slope(moves[_i].memory, moves[_i].memory, moves[_i].memory));
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), 0);
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), moves[_i].verdict);
    ck_assert_uint_eq(json_array_size(json_object_get(check, "findings")), moves[_i].n_pairs);
}

/* Each before has an after of its own. */
TEST(findings_of_one_holder_are_paired_one_by_one)
{
    for (int i = 0; i < 3; i++) {
        static const char *const functions[] = {"a", "b", "c"}, *const others[] = {"x", "y", "z"};
        add_holders(add_finding(base, "unbounded-growth", "leak", functions[i], 5, 1 << 20),
                    "history", 1);
        add_holders(add_finding(report, "unbounded-growth", "leak", others[i], 5, 1 << 20),
                    "history", i == 2 ? 0 : 1);
    }
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(check, "findings")), 3);
    ck_assert_str_eq(seep_get_text(check, "why", ""), "1 finding vanished, 2 remain, 0 are new");
}

TEST(a_fix_that_brings_another_leak_is_none)
{
    add_finding(base, "unbounded-growth", "leak", "load", 5, 1 << 20);
    add_finding(report, "unbounded-growth", "leak", "other", 5, 1 << 20);
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), 0);
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), "not-fixed");
}

TEST(a_predicted_saving_is_held_against_the_fall_of_the_peak)
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

TEST(runs_that_cannot_be_compared_are_refused)
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

/* Ends a report's trainer with a status, after so many steps. */
static void ends(json_t *its, int status, int steps)
{
    json_object_set_new(json_array_get(json_object_get(its, "processes"), 0), "exit",
                        json_pack("{s:s, s:i}", "kind", "exit", "value", status));
    json_object_set_new(json_object_get(its, "job"), "steps", json_integer(steps));
}

/* What ran out of memory has fewer steps, too few to see growth in; caught, it went on. */
TEST(a_run_that_ran_out_of_memory_may_be_shorter, .to = 4)
{
    static const struct {
        bool first_dies;
        int status, rc;
        const char *verdict;
    } runs[] = {{true, 1, 0, "fixed"},
                {false, 1, 0, "not-fixed"},
                {true, 0, -SEEP_EINVAL, ""},
                {false, 0, -SEEP_EINVAL, ""}};
    json_t *dies = runs[_i].first_dies ? base : report;

    add_finding(dies, "out-of-memory", "pressure", "forward", 5, 1 << 20);
    ends(dies, runs[_i].status, 12);
    if (runs[_i].status)
        json_object_del(json_object_get(json_object_get(dies, "spaces"), "host"),
                        "growth_bytes_per_step");
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), runs[_i].rc);
    if (runs[_i].rc)
        return;
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), runs[_i].verdict);
    char *notes = json_dumps(json_object_get(check, "notes"), 0);
    ck_assert_ptr_nonnull(strstr(notes, "it ran out of memory after 12 steps"));
    free(notes);
}

/* At another line than what vanished. */
TEST(a_new_out_of_memory_is_no_fix)
{
    add_finding(base, "unbounded-growth", "leak", "load", 5, 1 << 20);
    add_finding(report, "out-of-memory", "pressure", "forward", 50, 1 << 20);
    ck_assert_int_eq(seep_verify(base, report, false, &check, &err), 0);
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), "not-fixed");
}

/* ---- diff ----------------------------------------------------------------------------------- */

TEST(a_difference_lists_what_changed_largest_first)
{
    json_t *diff;

    add_site(base, "host", "same", 1, 5000);
    add_site(report, "host", "same", 2, 5000);
    add_site(base, "host", "less", 1, 90000);
    add_site(report, "host", "more", 1, 7000);
    ck_assert_int_eq(diff_of(base, report, false, &diff), 0);
    json_t *sites = json_object_get(diff, "sites");
    ck_assert_uint_eq(json_array_size(sites), 2);
    ck_assert_int_eq((int)seep_get_number(json_array_get(sites, 0), "retained_bytes_change"),
                     -90000);
    ck_assert_int_eq((int)seep_get_number(json_array_get(sites, 1), "retained_bytes_change"), 7000);
    json_decref(diff);
}

TEST(a_difference_with_what_is_no_report_is_no_crash)
{
    static const char *const texts[] = {"{}", "[]", "{\"job\": 1, \"sites\": 7}",
                                        "{\"job\": {}, \"sites\": [1, null, {}]}"};

    for (int i = 0; i < 4; i++) {
        json_t *diff = NULL;
        json_decref(report);
        report = json_loads(texts[i], 0, NULL);
        ck_assert_ptr_nonnull(report);
        if (diff_of(base, report, false, &diff) == 0)
            json_decref(diff);
    }
}

SUITE("fix verdict", .setup = setup, .teardown = teardown)
