#include "libprof/gate/fix_verdict.h"

#include <jansson.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "libprof/base/error.h"
#include "libprof/base/text.h"
#include "libprof/gate/gate_check.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

/* A fix often moves the line. Then what holds the memory shows whether two findings are the
 * same. */

static bool same_holder(const struct seep_report_finding *before,
                        const struct seep_report_finding *after)
{
    const char *was = seep_get_holder_name(before), *is = seep_get_holder_name(after);

    return was && is && strcmp(was, is) == 0;
}

static bool same_space(const struct seep_report_finding *before,
                       const struct seep_report_finding *after)
{
    return strcmp(seep_get_space_class(before->space), seep_get_space_class(after->space)) == 0;
}

/* The index of the pair that has only an after and belongs to this before; the number of pairs if
 * there is none. */
static size_t find_after(const json_t *pairs, const struct seep_report_finding *before)
{
    json_t *pair;
    size_t i;

    json_array_foreach (pairs, i, pair) {
        const struct seep_report_finding after =
            seep_report_finding_read(json_object_get(pair, "after"));
        if (!json_is_object(json_object_get(pair, "before")) && same_holder(before, &after) &&
            same_space(before, &after))
            return i;
    }
    return json_array_size(pairs);
}

/* Joins pairs of seep_compare_findings() of which one has only a before and the other only an
 * after, if both are of one space and held by the same container. Returns 0 or -SEEP_ENOMEM. */
static int fix_join_by_holder(json_t *pairs)
{
    for (size_t i = 0; i < json_array_size(pairs); i++) {
        json_t *pair = json_array_get(pairs, i);
        const json_t *before = json_object_get(pair, "before");
        if (!json_is_object(before) || json_is_object(json_object_get(pair, "after")))
            continue;
        const struct seep_report_finding f = seep_report_finding_read(before);
        size_t k = find_after(pairs, &f);
        if (k == json_array_size(pairs))
            continue;
        if (json_object_set(pair, "after", json_object_get(json_array_get(pairs, k), "after")) ||
            json_array_remove(pairs, k))
            return -SEEP_ENOMEM;
        i -= k < i;
    }
    return 0;
}

/* Whether the same container holds it before and after, and grew before, but now neither the
 * container nor the memory grows. Pure. */
static bool fix_holder_stopped(const struct seep_report_finding *before,
                               const struct seep_report_finding *after)
{
    return same_holder(before, after) && seep_get_holder_grows(before) &&
           seep_get_holder_stays(after) && !(after->growth_bytes_per_step.low > 0);
}

struct verification {
    const json_t *before, *after;
    struct seep_gate_check check; /* its findings are pairs, with their states */
    json_t *savings;
    size_t n_vanished, n_remaining, n_new;
    enum seep_severity counts;     /* the mildest that counts in findings of `before` */
    enum seep_severity counts_new; /* the same for new findings */
};

/* ---- findings ---------------------------------------------------------------------------- */

static bool counts(const json_t *finding, enum seep_severity mildest)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);

    return json_is_object(finding) && f.severity <= mildest &&
           strcmp(f.pattern, "legitimate-growth") != 0;
}

/* A fix addresses the worst findings: if `before` has only remarks, it addresses those. If `before`
 * has no findings at all, every finding of `after` is new. */
static void choose_what_counts(struct verification *v)
{
    const json_t *finding;
    enum seep_severity worst = SEEP_N_SEVERITIES;
    size_t i;

    json_array_foreach (json_object_get(v->before, "findings"), i, finding) {
        const enum seep_severity its = seep_report_finding_read(finding).severity;
        if (counts(finding, SEEP_INFO) && its < worst)
            worst = its;
    }
    v->counts = worst == SEEP_INFO ? SEEP_INFO : SEEP_PRESSURE;
    v->counts_new = worst > SEEP_INFO ? SEEP_INFO : SEEP_RETENTION;
}

/* Pressure, but a job that dies of it is not fixed. */
static bool is_out_of_memory(const struct seep_report_finding *f)
{
    return strcmp(f->pattern, "out-of-memory") == 0;
}

/* Gone: no longer there, now only a remark, a leak or retention that has become mere pressure of
 * another pattern, or held by a container that no longer grows. */
static bool is_gone(const struct seep_report_finding *before,
                    const struct seep_report_finding *after, bool counts)
{
    if (is_out_of_memory(after))
        return false;
    if (!counts || fix_holder_stopped(before, after))
        return true;
    return before->severity < SEEP_PRESSURE && after->severity == SEEP_PRESSURE &&
           strcmp(before->pattern, after->pattern) != 0;
}

static void judge_pair(struct verification *v, json_t *pair)
{
    const json_t *before = json_object_get(pair, "before"), *after = json_object_get(pair, "after");
    const struct seep_report_finding was = seep_report_finding_read(before),
                                     is = seep_report_finding_read(after);
    const char *state = NULL;

    if (counts(before, v->counts)) {
        bool gone = is_gone(&was, &is, counts(after, v->counts));
        if (fix_holder_stopped(&was, &is))
            seep_gate_check_note(&v->check, "%s no longer grows", seep_get_holder_name(&is));
        state = gone ? "vanished" : "remains";
        *(gone ? &v->n_vanished : &v->n_remaining) += 1;
    } else if (counts(after, v->counts_new) || is_out_of_memory(&is)) {
        state = "new";
        v->n_new++;
    }
    if (state && (json_object_set_new(pair, "state", json_string(state)) ||
                  json_array_append(v->check.findings, pair)))
        v->check.failed = true;
}

static void judge_findings(struct verification *v)
{
    json_t *pairs = NULL, *pair;
    size_t i;

    if (seep_compare_findings(v->before, v->after, &pairs)) {
        v->check.failed = true;
        return;
    }
    v->check.failed = v->check.failed || fix_join_by_holder(pairs);
    json_array_foreach (pairs, i, pair)
        judge_pair(v, pair);
    json_decref(pairs);
}

/* ---- savings ----------------------------------------------------------------------------- */

static double peak_of(const json_t *report, const char *space)
{
    return seep_get_number(json_object_get(json_object_get(report, "spaces"), space), "peak_bytes");
}

static void add_saving(struct verification *v, const char *space, double predicted)
{
    double measured = peak_of(v->before, space) - peak_of(v->after, space);
    bool agrees = fabs(measured - predicted) <= 0.1 * predicted;

    if (json_array_append_new(v->savings,
                              json_pack("{s:s, s:I, s:I, s:b}", "space", space, "predicted_bytes",
                                        (json_int_t)predicted, "measured_bytes",
                                        (json_int_t)measured, "agrees", agrees)))
        v->check.failed = true;
}

/* Adds up by space the savings that the vanished findings predict. */
static void add_savings(struct verification *v)
{
    json_t *sums = json_object(), *pair, *sum;
    const char *space;
    size_t i;

    json_array_foreach (v->check.findings, i, pair) {
        const struct seep_report_finding before =
            seep_report_finding_read(json_object_get(pair, "before"));
        if (strcmp(seep_get_text(pair, "state", ""), "vanished") != 0)
            continue;
        double all =
            (double)before.saving_bytes + json_real_value(json_object_get(sums, before.space));
        if (json_object_set_new(sums, before.space, json_real(all)))
            v->check.failed = true;
    }
    json_object_foreach (sums, space, sum) {
        if (json_real_value(sum) > 0)
            add_saving(v, space, json_real_value(sum));
    }
    json_decref(sums);
}

/* ---- all --------------------------------------------------------------------------------- */

static const char *plural(size_t n)
{
    return n == 1 ? "" : "s";
}

/* What the summary of the fixed run says is not denied: it may have findings that do not count. */
static char *why_fixed(const struct verification *v)
{
    const size_t n = json_array_size(json_object_get(v->after, "findings"));

    return n ? seep_text_format("%zu finding%s vanished; the fixed run's own summary has %zu that "
                                "%s milder: `seep report` shows %s",
                                v->n_vanished, plural(v->n_vanished), n, n == 1 ? "is" : "are",
                                n == 1 ? "it" : "them")
             : seep_text_format("%zu finding%s vanished, none remains, none is new", v->n_vanished,
                                plural(v->n_vanished));
}

static json_t *why(const struct verification *v, bool fixed)
{
    char *text = fixed ? why_fixed(v)
                       : seep_text_format("%zu finding%s vanished, %zu remain%s, %zu %s new",
                                          v->n_vanished, plural(v->n_vanished), v->n_remaining,
                                          v->n_remaining == 1 ? "s" : "", v->n_new,
                                          v->n_new == 1 ? "is" : "are");
    json_t *json = text ? json_string(text) : NULL;

    free(text);
    return json;
}

static int finish(struct verification *v, json_t **verdict)
{
    bool fixed = v->n_vanished && !v->n_remaining && !v->n_new;
    json_t *document = seep_get_document("seep-verify");

    if (!document ||
        json_object_set_new(document, "verdict", json_string(fixed ? "fixed" : "not-fixed")) ||
        json_object_set_new(document, "why", why(v, fixed)) ||
        json_object_set(document, "before", json_object_get(v->before, "job")) ||
        json_object_set(document, "after", json_object_get(v->after, "job")) ||
        json_object_set(document, "findings", v->check.findings) ||
        json_object_set_new(document, "spaces", seep_compare_spaces(v->before, v->after)) ||
        json_object_set(document, "savings", v->savings) ||
        json_object_set(document, "notes", v->check.notes))
        v->check.failed = true;
    if (v->check.failed) {
        json_decref(document);
        return -SEEP_ENOMEM;
    }
    *verdict = document;
    return 0;
}

static int comparable(const json_t *before, const json_t *after, bool allow_incomplete,
                      struct seep_error *err)
{
    struct seep_error one = {0};
    int rc = seep_compare_usable(before, allow_incomplete, &one);

    if (!rc)
        rc = seep_compare_long_enough(before, &one);
    if (rc)
        return seep_error_set(err, -rc, "", 0, "before: %s", one.text);
    rc = seep_compare_usable(after, allow_incomplete, &one);
    if (!rc)
        rc = seep_compare_long_enough(after, &one);
    if (rc)
        return seep_error_set(err, -rc, "", 0, "after: %s", one.text);
    return seep_compare_jobs(before, after, err);
}

static void note_jobs(struct verification *v)
{
    const json_t *reports[] = {v->before, v->after};
    static const char *const names[] = {"before", "after"};

    for (int i = 0; i < 2; i++) {
        const struct seep_report_job job = seep_get_job(reports[i]);
        const json_t *process;
        for (size_t at = 0; (process = seep_get_failed(reports[i], &at));)
            seep_gate_check_note(&v->check, "%s: %s process %.0f: %s", names[i],
                                 seep_get_text(process, "role", ""),
                                 seep_get_number(process, "pid"), seep_get_exit_text(process));
        if (seep_compare_ran_out(reports[i]))
            seep_gate_check_note(&v->check, "%s: it ran out of memory after %.0f %ss", names[i],
                                 (double)job.steps, seep_get_step_unit(&job));
        if (seep_get_all_left_out(reports[i]) > 0)
            seep_gate_check_note(&v->check,
                                 "%s: %.0f more findings are not listed, so they are not compared",
                                 names[i], seep_get_all_left_out(reports[i]));
        if (!job.complete)
            seep_gate_check_note(&v->check, "%s: the profile is incomplete", names[i]);
        if (job.dropped_events)
            seep_gate_check_note(&v->check, "%s: %llu events were dropped", names[i],
                                 (unsigned long long)job.dropped_events);
    }
    if (strcmp(seep_get_job(v->after).step_source, "time") == 0)
        seep_gate_check_note(
            &v->check,
            "no steps were found, so time slices took their place: a faster or slower run "
            "shifts them");
}

int seep_verify(const json_t *before, const json_t *after, bool allow_incomplete, json_t **verdict,
                struct seep_error *err)
{
    struct verification v = {.before = before, .after = after};
    int rc = comparable(before, after, allow_incomplete, err);

    if (rc)
        return rc;
    v.check.failed = seep_gate_check_init(&v.check, NULL) < 0;
    v.savings = json_array();
    choose_what_counts(&v);
    judge_findings(&v);
    add_savings(&v);
    note_jobs(&v);
    if (v.check.failed)
        rc = -SEEP_ENOMEM;
    else if (!v.n_vanished && !v.n_remaining && !v.n_new)
        rc = seep_error_set(err, SEEP_ENODATA, "", 0,
                            "neither run has a finding, so there is no fix to verify: `seep diff` "
                            "shows what changed");
    else
        rc = finish(&v, verdict);
    seep_gate_check_fini(&v.check);
    json_decref(v.savings);
    return rc;
}
