/* Reports of version 1 are read like those of version 2: report_version_1.json is one. */
#include "libprof/gate/fix_verdict.h"
#include "libprof/gate/gate.h"
#include "libprof/print/report_text.h"
#include "libprof/report_read/report_view.h"
#include "tests/gate/diff_fixture.h"
#include "tests/suite.h"

#include <check.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static json_t *old, *new;

static void set_part(json_t *finding_or_site)
{
    json_object_set(finding_or_site, "part", json_object_get(finding_or_site, "role"));
    json_object_del(finding_or_site, "role");
}

/* The same report as version 2 has it. */
static json_t *modernised(void)
{
    json_t *report = json_deep_copy(old), *site, *finding;
    size_t i;

    json_array_foreach (json_object_get(report, "findings"), i, finding)
        set_part(finding);
    json_array_foreach (json_object_get(report, "sites"), i, site) {
        set_part(site);
        json_t *interval = json_object_get(site, "growth_interval_bytes_per_step");
        json_t *growth = json_pack(
            "{s:O, s:O, s:O}", "value", json_object_get(site, "growth_bytes_per_step"), "low",
            json_object_get(interval, "low"), "high", json_object_get(interval, "high"));
        json_object_set_new(site, "growth_bytes_per_step", growth);
        json_object_del(site, "growth_interval_bytes_per_step");
    }
    json_object_set_new(report, "version", json_integer(2));
    json_object_set_new(
        report, "findings_left_out",
        json_pack("{s:i, s:i, s:i, s:i}", "leak", 0, "retention", 0, "pressure", 0, "info", 0));
    return report;
}

static void setup(void)
{
    old = json_load_file("tests/gate/report_version_1.json", 0, NULL);
    ck_assert_ptr_nonnull(old);
    new = modernised();
}

static void teardown(void)
{
    json_decref(old);
    json_decref(new);
}

static json_t *judge(const json_t *report, const json_t *baseline, uint64_t growth)
{
    struct seep_budget_line line = {.kind = SEEP_BUDGET_GROWTH, .space = "host", .limit = growth};
    struct seep_budget budget = {.lines = &line, .n_lines = growth ? 1 : 0};
    struct seep_gate gate = {.report = report, .baseline.report = baseline, .budget = &budget};
    struct seep_error err = {0};
    json_t *check = NULL;

    ck_assert_msg(seep_gate_check(&gate, &check, &err) == 0, "%s", err.text);
    return check;
}

static void set_growth(json_t *report, double value)
{
    json_t *site = json_array_get(json_object_get(report, "sites"), 1);

    json_object_set_new(site, "growth_bytes_per_step",
                        json_pack("{s:f, s:f, s:f}", "value", value, "low", value, "high", value));
}

TEST(a_baseline_may_be_of_version_1)
{
    json_t *check = judge(new, old, 0);

    ck_assert_str_eq(seep_get_text(check, "verdict", ""), "holds");
    json_decref(check);
    set_growth(new, 5000);
    check = judge(new, old, 0);
    ck_assert_str_eq(seep_get_text(check, "verdict", ""), "violated");
    const json_t *line = json_array_get(json_object_get(check, "lines"), 0);
    ck_assert_str_eq(seep_get_text(json_object_get(line, "frame"), "function", ""), "build");
    json_decref(check);
}

/* The growth of each site is known in both: a budget points at the one that grows most. */
TEST(a_budget_points_at_the_same_line_in_both_versions, .to = 2)
{
    json_t *check = judge(_i ? new : old, NULL, 100);
    const json_t *line = json_array_get(json_object_get(check, "lines"), 0);

    ck_assert_str_eq(seep_get_text(line, "verdict", ""), "violated");
    ck_assert_str_eq(seep_get_text(json_object_get(line, "frame"), "function", ""), "load");
    json_decref(check);
}

/* It is called role in the older one. */
TEST(the_part_that_a_line_belongs_to_is_known_in_both_versions, .to = 2)
{
    const json_t *report = _i ? new : old, *sites = json_object_get(report, "sites");
    const json_t *finding = json_array_get(json_object_get(report, "findings"), 0);

    ck_assert_str_eq(seep_report_finding_read(finding).part, "dataset");
    ck_assert_str_eq(seep_get_part(json_array_get(sites, 1)), "model");
}

TEST(nothing_has_changed_between_the_versions)
{
    json_t *diff = NULL;

    ck_assert_int_eq(diff_of(old, new, true, &diff), 0);
    ck_assert_uint_eq(json_array_size(json_object_get(diff, "sites")), 0);
    json_decref(diff);
    set_growth(new, 5000);
    ck_assert_int_eq(diff_of(old, new, true, &diff), 0);
    const json_t *site = json_array_get(json_object_get(diff, "sites"), 0);
    ck_assert_double_eq(seep_get_number(site, "growth_change"), 5000);
    json_decref(diff);
}

TEST(a_fix_is_seen_between_the_versions)
{
    struct seep_error err = {0};
    json_t *verdict = NULL;

    ck_assert_int_eq(seep_verify(old, new, false, &verdict, &err), 0);
    ck_assert_str_eq(seep_get_text(verdict, "verdict", ""), "not-fixed");
    json_decref(verdict);
    json_array_clear(json_object_get(new, "findings"));
    ck_assert_int_eq(seep_verify(old, new, false, &verdict, &err), 0);
    ck_assert_str_eq(seep_get_text(verdict, "verdict", ""), "fixed");
    json_decref(verdict);
}

static char *text_of(const json_t *report)
{
    char *text = NULL;
    size_t n;
    FILE *out = open_memstream(&text, &n);

    ck_assert_int_eq(
        seep_report_text(report, NULL, out, &(struct seep_report_look){.colour = false}), 0);
    fclose(out);
    return text;
}

TEST(both_versions_print_alike)
{
    char *before = text_of(old), *after = text_of(new);

    ck_assert_str_eq(before, after);
    ck_assert_ptr_nonnull(strstr(after, "+8.0 KiB"));
    free(before);
    free(after);
}

SUITE("old report", .setup = setup, .teardown = teardown)
