#include "libprof/gate/gate_check.h"

#include "libprof/base/text.h"
#include "libprof/gate/budget.h"
#include "libprof/report_read/report_view.h"
#include "libprof/words/patterns.h"

#include <string.h>

/* ---- which findings count ---------------------------------------------------------------- */

static bool counts(const json_t *finding, const char *counted)
{
    return !json_object_get(finding, "reason") &&
           (strcmp(seep_get_text(finding, "pattern", ""), counted) == 0 ||
            strcmp(seep_severities[seep_get_severity(finding)], counted) == 0);
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

bool seep_gate_is_of_shortage(const struct seep_budget_line *line)
{
    const char *pattern = seep_pattern_name(SEEP_PATTERN_OUT_OF_MEMORY);

    return line->kind == SEEP_BUDGET_FINDINGS && strcmp(line->counted, pattern) == 0;
}

/* Processes that the kernel killed for lack of host memory: no finding reports that. */
static uint64_t kills_of(const json_t *report, const struct seep_budget_line *line)
{
    double n = seep_get_number(json_object_get(report, "job"), "oom_kills");

    return seep_gate_is_of_shortage(line) && n > 0 && n < 1e9 ? (uint64_t)n : 0;
}

static char *text_of(uint64_t n, uint64_t kills)
{
    if (!kills)
        return seep_text_format("%llu", (unsigned long long)n);
    return seep_text_format("%llu: the kernel killed %llu process%s of the job, out of memory",
                            (unsigned long long)n, (unsigned long long)kills,
                            kills == 1 ? "" : "es");
}

void seep_gate_findings(struct seep_gate_check *check, const json_t *report,
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
                             text_of(n, kills),
                             json_pack("{s:s, s:I, s:I, s:I}", of, line->counted, "limit",
                                       (json_int_t)line->limit, "value", (json_int_t)n, "oom_kills",
                                       (json_int_t)kills));
}

void seep_gate_shortage(struct seep_gate_check *check, const json_t *report,
                        const struct seep_budget *budget)
{
    const struct seep_budget_line none = {.kind = SEEP_BUDGET_FINDINGS,
                                          .counted = seep_pattern_name(SEEP_PATTERN_OUT_OF_MEMORY)};

    for (size_t i = 0; i < budget->n_lines; i++) {
        if (seep_gate_is_of_shortage(&budget->lines[i]))
            return;
    }
    if (count(check, report, none.counted) + kills_of(report, &none))
        seep_gate_findings(check, report, &none);
}

/* ---- ignored ----------------------------------------------------------------------------- */

void seep_gate_ignore(struct seep_gate_check *check, const struct seep_budget *budget)
{
    json_t *finding;
    size_t i;

    json_array_foreach (check->findings, i, finding) {
        const json_t *frame = json_object_get(finding, "frame");
        const struct seep_budget_ignore *rule = seep_budget_ignored(
            budget, seep_get_text(finding, "pattern", ""), seep_get_text(frame, "file", NULL),
            seep_get_text(frame, "function", NULL), seep_get_text(frame, "qualname", NULL));
        if (rule && json_object_set_new(finding, "reason", json_string(rule->reason)))
            check->failed = true;
        if (json_object_set_new(finding, "verdict", json_string(rule ? "ignored" : "holds")))
            check->failed = true;
    }
}
