#include "libprof/gate/gate.h"

#include "libprof/base/text.h"
#include "libprof/gate/gate_check.h"
#include "libprof/report_read/device_view.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

#include <stdlib.h>
#include <string.h>

/* What is judged, and the resulting check. */
struct judging {
    const struct seep_gate *gate;
    struct seep_json_stream *sites; /* of its report */
    struct seep_gate_check check;
};

/* ---- spaces ------------------------------------------------------------------------------ */

static double amount_of(const json_t *site, enum seep_budget_kind kind)
{
    struct seep_slope growth;

    if (kind != SEEP_BUDGET_GROWTH)
        return seep_get_number(site, "peak_bytes");
    seep_get_slope(site, "growth_bytes_per_step", &growth);
    return growth.value;
}

/* The line of the site of a space (and of a process) that grows or holds most: where to look
 * first: a new reference, NULL where there is none. */
static json_t *worst_frame(struct seep_json_stream *sites, const struct seep_budget_line *line,
                           const json_t *process)
{
    json_int_t pid = json_integer_value(json_object_get(process, "pid"));
    json_t *one, *best = NULL;
    double most = 0;
    size_t k;

    for (size_t i = 0; i < sites->n; i++) {
        json_t *site = sites->make(sites, i);
        bool inside = !process;
        json_array_foreach (json_object_get(site, "processes"), k, one) {
            inside = inside || json_integer_value(one) == pid;
        }
        if (inside && strcmp(seep_get_text(site, "space", ""), line->space) == 0 &&
            amount_of(site, line->kind) > most) {
            most = amount_of(site, line->kind);
            json_decref(best);
            best = json_deep_copy(seep_get_site_frame(site));
        }
        json_decref(site);
    }
    return best;
}

static const char *unit_of(const struct judging *j)
{
    return seep_get_step_unit(json_object_get(j->gate->report, "job"));
}

/* The measured value of a space, in the job or in one process. */
struct measured {
    const json_t *process;   /* NULL: the job */
    struct seep_slope value; /* for a peak, low and high are the value */
    bool known;
};

static char *text_of_growth(const struct measured *m, const char *verdict, const char *unit)
{
    char value[SEEP_SIZE_TEXT], interval[SEEP_INTERVAL_TEXT];

    return seep_text_format(
        "%s a %s%s%s", seep_text_size(m->value.value, value), unit,
        seep_text_interval("95 % interval ", m->value.value, m->value.low, m->value.high, interval),
        strcmp(verdict, "noise") == 0 ? ": above the budget, but within the noise" : "");
}

static char *name_of(const struct seep_budget_line *line, const char *unit)
{
    bool growth = line->kind == SEEP_BUDGET_GROWTH;
    char size[SEEP_SIZE_TEXT];

    return seep_text_format("%s of %s%s%s: at most %s%s%s", growth ? "growth" : "peak", line->space,
                            line->process[0] ? " in each " : "", line->process,
                            seep_text_size((double)line->limit, size), growth ? " a " : "",
                            growth ? unit : "");
}

static void add_measured(struct judging *j, const struct seep_budget_line *line,
                         const struct measured *m)
{
    bool growth = line->kind == SEEP_BUDGET_GROWTH;
    double limit = (double)line->limit;
    const char *verdict = m->value.low > limit     ? "violated"
                          : m->value.value > limit ? "noise"
                                                   : "holds";
    json_t *frame = strcmp(verdict, "holds") == 0 ? NULL : worst_frame(j->sites, line, m->process);
    json_t *more = json_pack("{s:s, s:o, s:f}", "space", line->space, "limit",
                             json_integer((json_int_t)line->limit), "value", m->value.value);
    const char *unit = unit_of(j);
    char size[SEEP_SIZE_TEXT], *text;

    if (growth)
        json_object_update_new(more,
                               json_pack("{s:f, s:f}", "low", m->value.low, "high", m->value.high));
    if (line->process[0])
        json_object_set_new(more, "process", json_string(line->process));
    if (frame)
        json_object_set_new(more, "frame", frame);
    text = growth ? text_of_growth(m, verdict, unit)
                  : seep_text_format("%s", seep_text_size(m->value.value, size));
    if (m->process && text) {
        char *longer =
            seep_text_format("%s, process %.0f", text, seep_get_number(m->process, "pid"));
        free(text);
        text = longer;
        json_object_set(more, "pid", json_object_get(m->process, "pid"));
    }
    seep_gate_check_add_line(&j->check, growth ? "growth" : "peak", verdict, name_of(line, unit),
                             text, more);
}

/* What is resident, of the job or of a process. */
static struct measured measure_rss(const json_t *rss, const json_t *process,
                                   const struct seep_budget_line *line)
{
    struct measured m = {.process = process};
    const double peak = seep_get_number(rss, "highest_bytes") - seep_get_number(rss, "seep_bytes");

    if (line->kind == SEEP_BUDGET_GROWTH) {
        m.known = seep_get_slope(rss, "growth_bytes_per_step", &m.value);
    } else {
        m.known = json_is_object(rss);
        m.value = (struct seep_slope){peak, peak, peak};
    }
    return m;
}

static struct measured measure(const json_t *measured_in, const json_t *process,
                               const struct seep_budget_line *line)
{
    const bool of_rss = strcmp(line->space, SEEP_BUDGET_RSS) == 0;
    if (of_rss)
        return measure_rss(
            json_object_get(process ? process : json_object_get(measured_in, "coverage"), "rss"),
            process, line);
    const json_t *space = json_object_get(json_object_get(measured_in, "spaces"), line->space);
    struct measured m = {.process = process, .known = true};
    double peak = seep_get_number(space, "peak_bytes");

    if (line->kind == SEEP_BUDGET_PEAK)
        m.value = (struct seep_slope){peak, peak, peak};
    else if (space) /* a space that is not there does not grow */
        m.known = seep_get_slope(space, "growth_bytes_per_step", &m.value);
    return m;
}

/* The process of a role that is closest to the limit, or furthest beyond it. */
static struct measured measure_role(const json_t *report, const struct seep_budget_line *line,
                                    size_t *n_unknown, size_t *n)
{
    struct measured worst = {0};
    json_t *process;
    size_t i;

    json_array_foreach (json_object_get(report, "processes"), i, process) {
        if (strcmp(seep_get_text(process, "role", ""), line->process) != 0)
            continue;
        struct measured m = measure(process, process, line);
        ++*n;
        *n_unknown += !m.known;
        if (m.known && (!worst.known || m.value.low > worst.value.low ||
                        (m.value.low == worst.value.low && m.value.value > worst.value.value)))
            worst = m;
    }
    return worst;
}

static int judge_space(struct judging *j, const struct seep_budget_line *line,
                       struct seep_error *err)
{
    const json_t *report = j->gate->report;
    const char *unit = unit_of(j);
    size_t n_unknown = 0, n = 0;
    struct measured m =
        line->process[0] ? measure_role(report, line, &n_unknown, &n) : measure(report, NULL, line);

    if (line->process[0] && !n) {
        seep_gate_check_add_line(&j->check, line->kind == SEEP_BUDGET_GROWTH ? "growth" : "peak",
                                 "holds", name_of(line, unit),
                                 strdup("the job had no such process"), NULL);
        return 0;
    }
    if (!m.known)
        return seep_error_set(
            err, SEEP_ENODATA, "", 0,
            "%.0f %ss are too few to measure growth after the warm-up: record more",
            seep_get_number(json_object_get(report, "job"), "steps"), unit);
    add_measured(j, line, &m);
    if (n_unknown)
        seep_gate_check_note(
            &j->check, "growth of %s: %zu of %zu %s processes lived for too few %ss to judge them",
            line->space, n_unknown, n, line->process, unit);
    return 0;
}

/* ---- all --------------------------------------------------------------------------------- */

static bool asks_for_findings(const struct seep_gate *gate)
{
    bool asks = gate->baseline.report || !gate->budget->n_lines;

    for (size_t i = 0; i < gate->budget->n_lines; i++)
        asks = asks || gate->budget->lines[i].kind == SEEP_BUDGET_FINDINGS;
    return asks;
}

/* Whether the budget limits only how often the job may run out of memory. */
static bool is_plain(const struct seep_gate *gate)
{
    for (size_t i = 0; i < gate->budget->n_lines; i++) {
        if (!seep_gate_is_of_shortage(&gate->budget->lines[i]))
            return false;
    }
    return !gate->baseline.report;
}

static int judge_line(struct judging *j, const struct seep_budget_line *line,
                      struct seep_error *err)
{
    switch (line->kind) {
    case SEEP_BUDGET_FINDINGS:
        seep_gate_findings(&j->check, j->gate->report, line);
        return 0;
    case SEEP_BUDGET_HOLDER:
    case SEEP_BUDGET_LOST:
        return seep_gate_holders(&j->check, j->gate->report, line, err);
    default:
        return judge_space(j, line, err);
    }
}

/* *err is set for the first line that cannot be judged; all others are judged nevertheless. */
static int judge_lines(struct judging *j, struct seep_error *err)
{
    const struct seep_budget_line nothing_kept[] = {
        {.kind = SEEP_BUDGET_FINDINGS, .counted = seep_severities[SEEP_LEAK]},
        {.kind = SEEP_BUDGET_FINDINGS, .counted = seep_severities[SEEP_RETENTION]}};
    const struct seep_budget *budget = j->gate->budget;
    int rc = 0;

    for (int i = 0; i < 2 && is_plain(j->gate); i++)
        seep_gate_findings(&j->check, j->gate->report, &nothing_kept[i]);
    for (size_t i = 0; i < budget->n_lines; i++) {
        struct seep_error its = {0};
        int r = judge_line(j, &budget->lines[i], &its);
        if (r && !rc) {
            rc = r;
            *err = its;
        }
    }
    seep_gate_shortage(&j->check, j->gate->report, budget);
    return rc;
}

static void note_devices(struct judging *j)
{
    json_t *device;
    size_t i;

    json_array_foreach (json_object_get(j->gate->report, "devices"), i, device) {
        char *text = seep_device_text(device);
        if (text)
            seep_gate_check_note(&j->check, "%s", text);
        free(text);
    }
}

static void note_job(struct judging *j)
{
    const json_t *job = json_object_get(j->gate->report, "job");
    double dropped = seep_get_number(job, "dropped_events");
    double left_out = seep_get_all_left_out(j->gate->report);
    const json_t *process;

    if (left_out > 0)
        seep_gate_check_note(&j->check,
                             "%.0f more finding%s counted but not listed: no [[ignore]] and no "
                             "baseline applies to %s",
                             left_out, left_out == 1 ? " is" : "s are",
                             left_out == 1 ? "it" : "them");
    if (dropped > 0)
        seep_gate_check_note(
            &j->check, "%.0f events were dropped: the measured sizes are lower bounds", dropped);
    if (!json_is_true(json_object_get(job, "complete")))
        seep_gate_check_note(&j->check,
                             "the profile is incomplete: the measured sizes are lower bounds");
    for (size_t at = 0; (process = seep_get_failed(j->gate->report, &at));)
        seep_gate_check_note(&j->check, "%s process %.0f: %s", seep_get_text(process, "role", ""),
                             seep_get_number(process, "pid"), seep_get_exit_text(process));
}

static struct seep_json_stream *sites_in(const json_t *report,
                                         struct seep_json_stream_of_list *list)
{
    seep_json_stream_of_list(list, json_object_get(report, "sites"));
    return &list->stream;
}

static int judge(const struct seep_gate *gate, json_t **check)
{
    struct seep_error err = {0};
    struct seep_json_stream_of_list lists[2];
    struct seep_json_stream *before = gate->baseline.sites;
    struct judging j = {.gate = gate, .sites = gate->sites};
    int rc = seep_gate_check_init(&j.check, gate->report);

    j.sites = j.sites ? j.sites : sites_in(gate->report, &lists[1]);
    before = before ? before : sites_in(gate->baseline.report, &lists[0]);
    if (!rc) {
        seep_gate_ignore(&j.check, gate->budget);
        rc = judge_lines(&j, &err);
    }
    if ((!rc || rc == -SEEP_ENODATA) && gate->baseline.report)
        seep_gate_baseline(&j.check, (struct seep_compared[]){{gate->baseline.report, before},
                                                              {gate->report, j.sites}});
    if (rc == -SEEP_ENODATA) { /* a violation stays a violation */
        if (j.check.violated)
            seep_gate_check_note(&j.check, "not every budget could be judged: %s", err.text);
        seep_gate_check_doubt(&j.check, "%s", err.text);
        rc = 0;
    }
    if (!rc) {
        seep_gate_look_for_doubt(&j.check, gate->report, gate->budget, asks_for_findings(gate));
        note_job(&j);
        note_devices(&j);
        rc = seep_gate_check_finish(&j.check, gate->report, check);
    }
    seep_gate_check_fini(&j.check);
    return rc;
}

int seep_gate_check(const struct seep_gate *gate, json_t **check, struct seep_error *err)
{
    const struct seep_budget *budget = gate->budget;
    int rc = seep_compare_usable(gate->report, budget->allow_incomplete, err);

    if (!rc && gate->baseline.report)
        rc = seep_compare_usable(gate->baseline.report, budget->allow_incomplete, err);
    if (!rc && gate->baseline.report)
        rc = seep_compare_jobs(gate->baseline.report, gate->report, err);
    return rc ? rc : judge(gate, check);
}

int seep_gate_describe(const json_t *report, json_t **check)
{
    struct seep_budget none = {0};
    struct seep_gate gate = {.report = report, .budget = &none};

    return judge(&gate, check);
}
