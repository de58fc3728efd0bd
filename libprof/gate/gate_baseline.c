#include "libprof/gate/gate_check.h"

#include "libprof/base/text.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"
#include "libprof/report_read/site_pairs.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PLACES = 20 };

static double steps_of(const json_t *report)
{
    return seep_get_number(json_object_get(report, "job"), "steps");
}

/* Both sides are objects with the bytes at `key` and a growth. */
static bool grew(const json_t *before, const json_t *after, const char *key, double steps,
                 const struct seep_tolerance *tolerance)
{
    struct seep_slope was, is;

    seep_get_slope(before, "growth_bytes_per_step", &was);
    seep_get_slope(after, "growth_bytes_per_step", &is);
    return seep_compare_grown(seep_get_number(before, key), seep_get_number(after, key),
                              tolerance) ||
           seep_compare_growth_grown(&was, &is, steps, tolerance);
}

static char *text_of(const json_t *before, const json_t *after, const char *key, const char *unit)
{
    char was[SEEP_SIZE_TEXT], is[SEEP_SIZE_TEXT], slope_was[SEEP_SIZE_TEXT],
        slope_is[SEEP_SIZE_TEXT];
    struct seep_slope old, now;

    seep_get_slope(before, "growth_bytes_per_step", &old);
    seep_get_slope(after, "growth_bytes_per_step", &now);
    seep_text_size(seep_get_number(before, key), was);
    seep_text_size(seep_get_number(after, key), is);
    seep_text_size(old.value, slope_was);
    seep_text_size(now.value, slope_is);
    if (!json_is_object(before))
        return seep_text_format("new: keeps %s, grows by %s a %s", is, slope_is, unit);
    return seep_text_format("keeps %s, was %s; grows by %s a %s, was %s", is, was, slope_is, unit,
                            slope_was);
}

static void add_violated(struct seep_gate_check *check, const json_t *report, char *name,
                         const json_t *before, const json_t *after, const char *key)
{
    const char *unit = seep_get_step_unit(json_object_get(report, "job"));
    const json_t *frame = json_object_get(after, "frame");
    json_t *more = json_pack("{s:s, s:o?}", "space", seep_get_text(after, "space", ""), "frame",
                             frame ? json_deep_copy(frame) : NULL);

    if (!frame)
        json_object_del(more, "frame");
    seep_gate_check_add_line(check, "baseline", "violated", name, text_of(before, after, key, unit),
                             more);
}

/* The check's copy of a finding of the report. */
static json_t *judged(const struct seep_gate_check *check, const json_t *finding)
{
    const char *id = seep_get_text(finding, "id", "");
    json_t *copy;
    size_t i;

    json_array_foreach (check->findings, i, copy) {
        if (strcmp(seep_get_text(copy, "id", ""), id) == 0)
            return copy;
    }
    return NULL;
}

static void judge_findings(struct seep_gate_check *check, const json_t *report, const json_t *pairs,
                           size_t *n_violated)
{
    const char *cwd = seep_get_text(json_object_get(report, "job"), "cwd", "");
    json_t *pair;
    size_t i;

    json_array_foreach (pairs, i, pair) {
        const json_t *before = json_object_get(pair, "before"),
                     *after = json_object_get(pair, "after");
        json_t *copy = judged(check, after);
        /* A finding that was only a remark before is new. */
        if (json_is_object(before) && seep_get_severity(before) > 1 && seep_get_severity(after) < 2)
            before = NULL;
        bool counts = copy && seep_get_severity(after) < 2 && !json_object_get(copy, "reason");
        if (!counts || (json_is_object(before) &&
                        !grew(before, after, "live_bytes", steps_of(report), &SEEP_TOLERANCE)))
            continue;
        char *frame = seep_get_frame_text(json_object_get(after, "frame"), cwd);
        add_violated(check, report,
                     seep_text_format("no new or grown finding: %s at %s",
                                      seep_get_text(after, "pattern", ""), frame ? frame : "?"),
                     before, after, "live_bytes");
        json_object_set_new(copy, "verdict", json_string("violated"));
        free(frame);
        ++*n_violated;
    }
}

/* Whether a finding of the report already names a place. */
static bool is_told(const struct seep_gate_check *check, const json_t *frame, const char *space)
{
    json_t *finding;
    size_t i;

    json_array_foreach (check->findings, i, finding) {
        const json_t *its = json_object_get(finding, "frame");
        const char *class = seep_get_space_class(seep_get_text(finding, "space", ""));
        if (strcmp(class, space) == 0 &&
            strcmp(seep_get_text(its, "function", ""), seep_get_text(frame, "function", "")) == 0 &&
            strcmp(seep_get_text(its, "file", ""), seep_get_text(frame, "file", "")) == 0)
            return true;
    }
    return false;
}

/* A pair of places that grew. */
struct grown {
    uint32_t pair;
    double rise;
};

static bool has_grown(const struct seep_site_pair *pair, double steps)
{
    const struct seep_pair_side *was = &pair->sides[0], *is = &pair->sides[1];
    const struct seep_tolerance *tolerance =
        pair->is_interpreters ? &SEEP_TOLERANCE_INTERPRETER : &SEEP_TOLERANCE;

    return is->n && (seep_compare_grown(was->retained, is->retained, tolerance) ||
                     seep_compare_growth_grown(&was->growth, &is->growth, steps, tolerance));
}

static int by_rise(const void *a, const void *b)
{
    const struct grown *p = a, *q = b;

    return p->rise != q->rise ? (p->rise < q->rise ? 1 : -1)
                              : (p->pair > q->pair) - (p->pair < q->pair);
}

/* Those that grew, the largest first. */
static struct grown *list_grown(const struct seep_site_pairs *pairs, double steps, size_t *n)
{
    struct grown *list = calloc(pairs->n + 1, sizeof *list);

    *n = 0;
    for (uint32_t i = 0; list && i < pairs->n; i++) {
        const struct seep_site_pair *pair = &pairs->list[i];
        if (has_grown(pair, steps))
            list[(*n)++] = (struct grown){i, pair->sides[1].retained - pair->sides[0].retained};
    }
    if (*n)
        qsort(list, *n, sizeof *list, by_rise);
    return list;
}

static void add_place(struct seep_gate_check *check, const json_t *report, const json_t *pair)
{
    const char *cwd = seep_get_text(json_object_get(report, "job"), "cwd", "");
    json_t *after = json_object_get(pair, "after"), *frame = json_object_get(pair, "frame");
    char *text = seep_get_frame_text(frame, cwd);

    json_object_set(after, "frame", frame);
    json_object_set(after, "space", json_object_get(pair, "space"));
    add_violated(check, report, seep_text_format("no new or grown site: %s", text ? text : "?"),
                 json_object_get(pair, "before"), after, "retained_bytes");
    free(text);
}

/* Judges places that keep more. */
static void judge_places(struct seep_gate_check *check, const json_t *report,
                         const struct seep_site_pairs *pairs, size_t *n_violated)
{
    size_t n, n_told = 0;
    struct grown *grown = list_grown(pairs, steps_of(report), &n);

    check->failed = check->failed || !grown;
    for (size_t i = 0; i < n; i++) {
        json_t *pair = seep_site_pair_json(pairs, grown[i].pair);
        if (!pair) {
            check->failed = true;
        } else if (!is_told(check, json_object_get(pair, "frame"),
                            seep_get_text(pair, "space", ""))) {
            if (n_told++ < MAX_PLACES)
                add_place(check, report, pair);
        }
        json_decref(pair);
    }
    if (n_told > MAX_PLACES)
        seep_gate_check_note(check, "%zu more lines keep more than in the baseline",
                             n_told - MAX_PLACES);
    free(grown);
    *n_violated += n_told;
}

void seep_gate_baseline(struct seep_gate_check *check, const struct seep_compared runs[2])
{
    const json_t *report = runs[1].report;
    json_t *findings = NULL;
    struct seep_site_pairs places;
    size_t n_violated = 0;

    if (seep_site_pairs_init(&places, runs, SEEP_BY_PLACE) ||
        seep_compare_findings(runs[0].report, report, &findings)) {
        check->failed = true;
    } else {
        judge_findings(check, report, findings, &n_violated);
        judge_places(check, report, &places, &n_violated);
        if (!n_violated)
            seep_gate_check_add_line(check, "baseline", "holds",
                                     strdup("nothing new or grown since the baseline"),
                                     strdup("all within 10 % or 64 KiB of it"), NULL);
    }
    json_decref(findings);
    seep_site_pairs_fini(&places);
}
