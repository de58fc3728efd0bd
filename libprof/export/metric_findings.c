/* What the findings of a report say to a monitoring system: how many there are, which lines grow
 * without an end, and when a limit is reached. */
#include "libprof/base/error.h"
#include "libprof/base/text.h"
#include "libprof/export/metric_text.h"
#include "libprof/report_read/report_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Lines with series of their own: the most severe. */
enum { MOST_LINES = 16 };

static const char no_pattern[] = "?";

/* ---- counts ------------------------------------------------------------------------------- */

static void put_severities(const struct seep_metrics *m, const json_t *report)
{
    double n[SEEP_N_SEVERITIES] = {0};
    json_t *finding;
    size_t i;

    json_array_foreach (json_object_get(report, "findings"), i, finding)
        n[seep_get_severity(finding)]++;
    seep_metric_family(m, "seep_findings", "", "Findings, by severity.");
    for (int k = 0; k < SEEP_N_SEVERITIES; k++)
        seep_metric_put_one(m, "seep_findings", "severity", seep_severities[k],
                            n[k] + seep_get_left_out(report, k));
}

/* Adds to, or with `least` lowers, a number of an object. */
static int note(json_t *object, const char *key, double value, bool least)
{
    const json_t *before = json_object_get(object, key);
    const double old = json_number_value(before);

    if (before)
        value = least ? fmin(old, value) : old + value;
    return json_object_set_new(object, key, json_real(value)) ? -SEEP_ENOMEM : 0;
}

static int put_patterns(const struct seep_metrics *m, const json_t *report)
{
    json_t *counts = json_object(), *finding, *n;
    const char *pattern;
    size_t i;
    int r = counts ? 0 : -SEEP_ENOMEM;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        if (!r)
            r = note(counts, seep_get_text(finding, "pattern", no_pattern), 1, false);
    }
    seep_metric_family(m, "seep_pattern_findings", "",
                       "Findings that the report lists, by pattern.");
    json_object_foreach (counts, pattern, n)
        seep_metric_put_one(m, "seep_pattern_findings", "pattern", pattern, json_real_value(n));
    json_decref(counts);
    return r;
}

static void put_kills(const struct seep_metrics *m, const json_t *job)
{
    const json_t *kills = json_object_get(job, "oom_kills");

    if (!json_is_number(kills))
        return;
    seep_metric_family(m, "seep_oom_kills", "",
                       "Processes of the job that the kernel killed for lack of memory.");
    seep_metric_put_one(m, "seep_oom_kills", NULL, NULL, json_number_value(kills));
}

/* ---- lines -------------------------------------------------------------------------------- */

struct line {
    const char *pattern, *severity, *space;
    char text[SEEP_METRIC_LABEL_BYTES + 1];
    double growth, live;
};

/* As `seep.monitor()` has it: an accusation that has not levelled off and surely grows. */
static double growth_without_end(const json_t *finding)
{
    struct seep_slope growth;

    return seep_get_severity(finding) == 0 &&
                   seep_get_slope(finding, "growth_bytes_per_step", &growth) && growth.low > 0 &&
                   !json_is_number(json_object_get(finding, "plateau_step"))
               ? growth.value
               : 0;
}

/* The line to change, as everywhere: where the memory is kept, if that is one line. */
static const json_t *frame_of(const json_t *finding)
{
    const json_t *kept = json_object_get(finding, "kept_at");

    return json_array_size(kept) == 1 ? json_array_get(kept, 0) : json_object_get(finding, "frame");
}

static bool is_same_line(const struct line *a, const struct line *b)
{
    return strcmp(a->pattern, b->pattern) == 0 && strcmp(a->severity, b->severity) == 0 &&
           strcmp(a->space, b->space) == 0 && strcmp(a->text, b->text) == 0;
}

/* Returns how many lines there are, or -SEEP_ENOMEM. Findings with the same labels are one. */
static int list_lines(const json_t *report, struct line lines[MOST_LINES])
{
    const char *cwd = seep_get_text(json_object_get(report, "job"), "cwd", "");
    json_t *finding;
    size_t i;
    int n = 0, k;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        if (n == MOST_LINES)
            break;
        struct line *line = &lines[n];
        char *text = seep_get_frame_text(frame_of(finding), cwd);
        if (!text)
            return -SEEP_ENOMEM;
        *line = (struct line){.pattern = seep_get_text(finding, "pattern", no_pattern),
                              .severity = seep_severities[seep_get_severity(finding)],
                              .space = seep_get_text(finding, "space", ""),
                              .growth = growth_without_end(finding),
                              .live = seep_get_number(finding, "live_bytes")};
        seep_metric_label_text(text, line->text);
        free(text);
        for (k = 0; k < n && !is_same_line(&lines[k], line);)
            k++;
        if (k < n) {
            lines[k].growth += line->growth;
            lines[k].live += line->live;
        } else
            n++;
    }
    return n;
}

static int put_lines(const struct seep_metrics *m, const json_t *report)
{
    struct line lines[MOST_LINES];
    const int n = list_lines(report, lines);

    for (int growth = 0; growth < 2 && n >= 0; growth++) {
        const char *name =
            growth ? "seep_finding_growth_bytes_per_step" : "seep_finding_live_bytes";
        seep_metric_family(m, name, growth ? "bytes_per_step" : "bytes",
                           growth ? "Growth of a leak that never levelled off; 0 of other findings."
                                  : "Bytes that a finding is about, at the last finished step.");
        for (int i = 0; i < n; i++) {
            const struct seep_metric_label labels[] = {{"severity", lines[i].severity},
                                                       {"pattern", lines[i].pattern},
                                                       {"space", lines[i].space},
                                                       {"line", lines[i].text}};
            seep_metric_put(m, name, labels, 4, growth ? lines[i].growth : lines[i].live);
        }
    }
    return n < 0 ? n : 0;
}

/* ---- limits ------------------------------------------------------------------------------- */

/* Of a job that has ended nothing comes nearer to a limit. */
static int put_nearest_limits(const struct seep_metrics *m, const json_t *report)
{
    const double step_s = seep_metric_step_s(report);
    json_t *nearest = json_object(), *finding, *steps;
    const char *space;
    size_t i;
    int r = nearest ? 0 : -SEEP_ENOMEM;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        const json_t *left = json_object_get(finding, "steps_to_limit");
        if (!r && json_is_number(left))
            r = note(nearest, seep_get_text(finding, "space", ""), json_number_value(left), true);
    }
    seep_metric_family(m, "seep_limit_steps", "",
                       "Steps until the growth of a space reaches its limit.");
    json_object_foreach (nearest, space, steps)
        seep_metric_put_one(m, "seep_limit_steps", "space", space, json_real_value(steps));
    seep_metric_family(
        m, "seep_limit_seconds", "seconds",
        "Seconds until the growth of a space reaches its limit, at the present pace.");
    json_object_foreach (nearest, space, steps) {
        if (step_s > 0)
            seep_metric_put_one(m, "seep_limit_seconds", "space", space,
                                json_real_value(steps) * step_s);
    }
    json_decref(nearest);
    return r;
}

int seep_metric_findings(const struct seep_metrics *m, const json_t *report)
{
    put_severities(m, report);
    put_kills(m, json_object_get(report, "job"));
    if (put_patterns(m, report) || put_lines(m, report))
        return -SEEP_ENOMEM;
    return seep_get_ended(report) ? 0 : put_nearest_limits(m, report);
}
