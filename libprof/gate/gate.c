#include "libprof/gate/gate.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/base/text.h"
#include "libprof/gate/budget.h"
#include "libprof/gate/gate_check.h"
#include "libprof/report_read/holder_view.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"
#include "libprof/report_read/site_pairs.h"
#include "libprof/words/patterns.h"

/* What a job would have kept after its failure was not seen. One that ran out of memory has
 * violated its budget by that, or was allowed to. */
static void doubt_failed(struct seep_gate_check *check, const json_t *report)
{
    const struct seep_report_job job = seep_get_job(report);
    const json_t *process = seep_get_crashed(report);

    if (!process || seep_compare_ran_out(report))
        return;
    if (strcmp(job.step_source, "time") == 0)
        seep_gate_check_doubt(check, "the job failed before its first step (%s): fix that first",
                              seep_get_exit_text(process));
    else
        seep_gate_check_doubt(
            check, "the job failed after %.0f steps (%s): fix that, or add --allow-incomplete",
            (double)job.steps, seep_get_exit_text(process));
}

static const char *unit_of(const json_t *report)
{
    const struct seep_report_job job = seep_get_job(report);

    return seep_get_step_unit(&job);
}

/* Time slices show that something grows, but not that nothing does. */
static void doubt_without_steps(struct seep_gate_check *check, const json_t *report)
{
    if (strcmp(seep_get_job(report).step_source, "time") == 0)
        seep_gate_check_doubt(check, "no training step was seen: call seep.step() once a step, or "
                                     "bound what may grow with --max-growth");
}

static bool is_open(const json_t *finding)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);

    return strcmp(seep_get_text(finding, "verdict", ""), "holds") == 0 &&
           strcmp(f.pattern, "undetermined") == 0 && f.severity == SEEP_PRESSURE &&
           f.growth_bytes_per_step.value > 0;
}

static void doubt_growing(struct seep_gate_check *check, const json_t *report)
{
    const struct seep_report_job job = seep_get_job(report);
    const char *unit = seep_get_step_unit(&job);
    char each[SEEP_SIZE_TEXT];
    json_t *finding;
    size_t i;

    json_array_foreach (check->findings, i, finding) {
        if (!is_open(finding))
            continue;
        const struct seep_report_finding f = seep_report_finding_read(finding);
        seep_gate_check_doubt(check,
                              "%s grows by %s a %s, and %.0f %ss do not show whether it goes on: "
                              "run more",
                              f.id, seep_text_size(f.growth_bytes_per_step.value, each), unit,
                              (double)job.steps, unit);
    }
}

static void doubt_short(struct seep_gate_check *check, const json_t *report,
                        const struct seep_budget *budget, bool asks_for_findings)
{
    const uint64_t steps = seep_get_job(report).steps;
    struct seep_error err = {0};

    if (steps < budget->min_steps)
        seep_gate_check_doubt(check, "the job has %llu steps, but min_steps is %llu: record more",
                              (unsigned long long)steps, (unsigned long long)budget->min_steps);
    if (asks_for_findings && seep_compare_long_enough(report, &err))
        seep_gate_check_doubt(check, "%s", err.text);
}

/* Says so where nothing is violated and yet nothing is shown: by a job that failed, had no step or
 * too few, or has a line that grows and may go on. */
static void gate_look_for_doubt(struct seep_gate_check *check, const json_t *report,
                                const struct seep_budget *budget, bool asks_for_findings)
{
    if (!budget->allow_incomplete)
        doubt_failed(check, report);
    doubt_short(check, report, budget, asks_for_findings);
    if (!asks_for_findings)
        return;
    doubt_without_steps(check, report);
    doubt_growing(check, report);
}

/* ---- which findings count ---------------------------------------------------------------- */

static bool counts(const json_t *finding, const char *counted)
{
    const struct seep_report_finding f = seep_report_finding_read(finding);

    return !json_object_get(finding, "reason") &&
           (strcmp(f.pattern, counted) == 0 ||
            strcmp(seep_severity_name(f.severity), counted) == 0);
}

static bool is_severity(const char *name)
{
    for (int i = 0; i < SEEP_N_SEVERITIES; i++) {
        if (strcmp(name, seep_severities[i]) == 0)
            return true;
    }
    return false;
}

static uint64_t count(const struct seep_gate_check *check, const json_t *report,
                      const char *counted)
{
    /* Of findings that are not listed, only the severity is known. */
    double left_out = seep_get_number(json_object_get(report, "findings_left_out"), counted);
    uint64_t n = left_out > 0 && left_out < 1e15 ? (uint64_t)left_out : 0;
    json_t *finding;
    size_t i;

    json_array_foreach (check->findings, i, finding)
        n += counts(finding, counted);
    return n;
}

/* ---- lines ------------------------------------------------------------------------------- */

/* Whether the line says how often the job may run out of memory. */
static bool gate_is_of_oom(const struct seep_budget_line *line)
{
    const char *pattern = seep_pattern_name(SEEP_PATTERN_OUT_OF_MEMORY);

    return line->kind == SEEP_BUDGET_FINDINGS && strcmp(line->counted, pattern) == 0;
}

/* Processes that the kernel killed for lack of host memory: no finding reports that. */
static uint64_t kills_of(const json_t *report, const struct seep_budget_line *line)
{
    const uint64_t n = seep_get_job(report).oom_kills;

    return gate_is_of_oom(line) && n < 1000000000 ? n : 0;
}

static char *finding_text(uint64_t n, uint64_t kills)
{
    if (!kills)
        return seep_text_format("%llu", (unsigned long long)n);
    return seep_text_format("%llu: the kernel killed %llu process%s of the job, out of memory",
                            (unsigned long long)n, (unsigned long long)kills,
                            kills == 1 ? "" : "es");
}

/* Adds the line of the check for a budget of kind SEEP_BUDGET_FINDINGS. */
static void seep_gate_findings(struct seep_gate_check *check, const json_t *report,
                               const struct seep_budget_line *line)
{
    const char *of = is_severity(line->counted) ? "severity" : "pattern";
    uint64_t kills = kills_of(report, line), n = count(check, report, line->counted) + kills;
    bool violated = n > line->limit;
    json_t *finding;
    size_t i;

    json_array_foreach (check->findings, i, finding) {
        if (violated && counts(finding, line->counted) &&
            json_object_set_new(finding, "verdict", json_string("violated")))
            check->failed = true;
    }
    seep_gate_check_add_line(check, "findings", violated ? "violated" : "holds",
                             seep_text_format("findings of %s %s: at most %llu", of, line->counted,
                                              (unsigned long long)line->limit),
                             finding_text(n, kills),
                             json_pack("{s:s, s:I, s:I, s:I}", of, line->counted, "limit",
                                       (json_int_t)line->limit, "value", (json_int_t)n, "oom_kills",
                                       (json_int_t)kills));
}

/* A job that ran out of memory, whether it died or caught the error, violates every budget that
 * does not say how often it may. Adds that line if the job did and the budget does not. */
static void gate_oom(struct seep_gate_check *check, const json_t *report,
                     const struct seep_budget *budget)
{
    const struct seep_budget_line none = {.kind = SEEP_BUDGET_FINDINGS,
                                          .counted = seep_pattern_name(SEEP_PATTERN_OUT_OF_MEMORY)};

    for (size_t i = 0; i < budget->n_lines; i++) {
        if (gate_is_of_oom(&budget->lines[i]))
            return;
    }
    if (count(check, report, none.counted) + kills_of(report, &none))
        seep_gate_findings(check, report, &none);
}

/* ---- ignored ----------------------------------------------------------------------------- */

/* Gives each finding of the check its first verdict: "ignored" with the reason if a rule of the
 * budget matches it, else "holds". */
static void gate_ignore(struct seep_gate_check *check, const struct seep_budget *budget)
{
    json_t *finding;
    size_t i;

    json_array_foreach (check->findings, i, finding) {
        const struct seep_report_finding f = seep_report_finding_read(finding);
        const struct seep_budget_ignore *rule = seep_budget_ignored(
            budget, f.pattern, seep_get_text(f.frame, "file", NULL),
            seep_get_text(f.frame, "function", NULL), seep_get_text(f.frame, "qualname", NULL));
        if (rule && json_object_set_new(finding, "reason", json_string(rule->reason)))
            check->failed = true;
        if (json_object_set_new(finding, "verdict", json_string(rule ? "ignored" : "holds")))
            check->failed = true;
    }
}

/* The line of a finding that this container holds or, without a name, that nobody holds. */
static const json_t *frame_of(const json_t *report, const char *holder)
{
    json_t *finding;
    size_t i;

    json_array_foreach (json_object_get(report, "findings"), i, finding) {
        const struct seep_report_finding f = seep_report_finding_read(finding);
        const char *state = seep_get_text(seep_get_holders(f.holders), "state", "");
        const char *name = seep_get_holder_name(&f);
        if (*holder ? name && strcmp(name, holder) == 0 : strcmp(state, "lost") == 0)
            return f.frame;
    }
    return NULL;
}

static void add_line(struct seep_gate_check *check, const json_t *report,
                     const struct seep_budget_line *line, const char *verdict, char *name,
                     char *text, json_t *more)
{
    const json_t *frame = strcmp(verdict, "holds") == 0 ? NULL : frame_of(report, line->holder);

    if (!more ||
        (json_is_object(frame) && json_object_set_new(more, "frame", json_deep_copy(frame))))
        check->failed = true;
    seep_gate_check_add_line(check, *line->holder ? "holder" : "lost", verdict, name, text, more);
}

static void judge_lost(struct seep_gate_check *check, const json_t *report,
                       const struct seep_budget_line *line)
{
    double lost = seep_get_number(json_object_get(report, "holders"), "lost_bytes");
    char limit[SEEP_SIZE_TEXT], size[SEEP_SIZE_TEXT];

    seep_text_size((double)line->limit, limit);
    seep_text_size(lost, size);
    add_line(check, report, line, lost > (double)line->limit ? "violated" : "holds",
             seep_text_format("memory that nobody holds: at most %s", limit),
             seep_text_format("%s", size),
             json_pack("{s:I, s:f}", "limit", (json_int_t)line->limit, "value", lost));
}

static void judge_pace(struct seep_gate_check *check, const json_t *report,
                       const struct seep_budget_line *line, const struct seep_slope *pace)
{
    const char *unit = unit_of(report);
    const char *verdict = pace->low > line->pace     ? "violated"
                          : pace->value > line->pace ? "noise"
                                                     : "holds";
    bool noise = strcmp(verdict, "noise") == 0;

    add_line(
        check, report, line, verdict,
        seep_text_format("growth of %s: at most %g entries a %s", line->holder, line->pace, unit),
        seep_text_format("%.3g entries a %s (95 %% interval %.3g to %.3g)%s", pace->value, unit,
                         pace->low, pace->high,
                         noise ? ": above the budget, but within the noise" : ""),
        json_pack("{s:s, s:f, s:f, s:f, s:f}", "holder", line->holder, "limit", line->pace, "value",
                  pace->value, "low", pace->low, "high", pace->high));
}

/* Adds the line of the check for a budget on holders, of kind SEEP_BUDGET_HOLDER or
 * SEEP_BUDGET_LOST. A container that no snapshot saw hold anything has not grown. Returns 0;
 * -SEEP_ENODATA with *err if the report has no snapshot, or too few of that container
 *. */
static int seep_gate_holders(struct seep_gate_check *check, const json_t *report,
                             const struct seep_budget_line *line, struct seep_error *err)
{
    const json_t *holders = json_object_get(report, "holders");
    struct seep_slope pace;

    if (!(seep_get_number(holders, "snapshots") > 0))
        return seep_error_set(
            err, SEEP_ENODATA, "", 0,
            "the profile has no snapshot of who holds memory, which a budget needs: "
            "record with --holders; see `seep help run`");
    if (line->kind == SEEP_BUDGET_LOST) {
        judge_lost(check, report, line);
        return 0;
    }
    const json_t *container = seep_get_container(report, line->holder);
    if (!container) {
        add_line(check, report, line, "holds",
                 seep_text_format("growth of %s: at most %g entries a %s", line->holder, line->pace,
                                  unit_of(report)),
                 strdup("no snapshot has it among the largest holders"),
                 json_pack("{s:s, s:f}", "holder", line->holder, "limit", line->pace));
        return 0;
    }
    if (!seep_get_slope(container, "growth_per_step", &pace))
        return seep_error_set(err, SEEP_ENODATA, "", 0,
                              "%.60s is in fewer than %d snapshots, too few to measure its growth: "
                              "take more; see --holders in `seep help run`",
                              line->holder, SEEP_STATISTICS_MIN);
    judge_pace(check, report, line, &pace);
    return 0;
}

enum { MAX_PLACES = 20 };

static double steps_of(const json_t *report)
{
    return (double)seep_get_job(report).steps;
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
    const char *unit = unit_of(report);
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
    const char *cwd = seep_get_job(report).cwd;
    json_t *pair;
    size_t i;

    json_array_foreach (pairs, i, pair) {
        const json_t *before = json_object_get(pair, "before"),
                     *after = json_object_get(pair, "after");
        json_t *copy = judged(check, after);
        /* A finding that was only a remark before is new. */
        const struct seep_report_finding f = seep_report_finding_read(after);
        const bool is_accusation = f.severity <= SEEP_RETENTION;
        if (is_accusation && seep_report_finding_read(before).severity > SEEP_RETENTION)
            before = NULL;
        bool counts = copy && is_accusation && !json_object_get(copy, "reason");
        if (!counts || (json_is_object(before) &&
                        !grew(before, after, "live_bytes", steps_of(report), &SEEP_TOLERANCE)))
            continue;
        char *frame = seep_get_frame_text(f.frame, cwd);
        add_violated(
            check, report,
            seep_text_format("no new or grown finding: %s at %s", f.pattern, frame ? frame : "?"),
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
        const struct seep_report_finding f = seep_report_finding_read(finding);
        const char *class = seep_get_space_class(f.space);
        if (strcmp(class, space) == 0 &&
            strcmp(seep_get_text(f.frame, "function", ""), seep_get_text(frame, "function", "")) ==
                0 &&
            strcmp(seep_get_text(f.frame, "file", ""), seep_get_text(frame, "file", "")) == 0)
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
    const char *cwd = seep_get_job(report).cwd;
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

/* Compares a report, the second run, with an older one of the same job. Adds a line for each
 * finding and place that is new or has grown, or one line that holds if there are none, and changes
 * the verdicts of the check's findings. */
static void seep_gate_baseline(struct seep_gate_check *check, const struct seep_compared runs[2])
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
    const char *unit = unit_of(j->gate->report);
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
static struct measured measure_rss(const json_t *json, const json_t *process,
                                   const struct seep_budget_line *line)
{
    const struct seep_report_rss rss = seep_report_rss_read(json);
    const double own = rss.seep_bytes > 0 ? (double)rss.seep_bytes : 0;
    const double peak = (double)rss.highest_bytes - own;
    struct measured m = {.process = process};

    if (line->kind == SEEP_BUDGET_GROWTH) {
        m.known = !isnan(rss.growth_bytes_per_step.value);
        if (m.known)
            m.value = rss.growth_bytes_per_step;
    } else {
        m.known = json_is_object(json);
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
    const char *unit = unit_of(j->gate->report);
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
            (double)seep_get_job(report).steps, unit);
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
        if (!gate_is_of_oom(&gate->budget->lines[i]))
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
    gate_oom(&j->check, j->gate->report, budget);
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
    const struct seep_report_job job = seep_get_job(j->gate->report);
    double left_out = seep_get_all_left_out(j->gate->report);
    const json_t *process;

    if (left_out > 0)
        seep_gate_check_note(&j->check,
                             "%.0f more finding%s counted but not listed: no [[ignore]] and no "
                             "baseline applies to %s",
                             left_out, left_out == 1 ? " is" : "s are",
                             left_out == 1 ? "it" : "them");
    if (job.dropped_events)
        seep_gate_check_note(&j->check,
                             "%llu events were dropped: the measured sizes are lower bounds",
                             (unsigned long long)job.dropped_events);
    if (!job.complete)
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
        gate_ignore(&j.check, gate->budget);
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
        gate_look_for_doubt(&j.check, gate->report, gate->budget, asks_for_findings(gate));
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
