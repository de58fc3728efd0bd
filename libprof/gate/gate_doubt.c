#include "libprof/base/text.h"
#include "libprof/gate/budget.h"
#include "libprof/gate/gate_check.h"
#include "libprof/report_read/report_pairs.h"
#include "libprof/report_read/report_view.h"

#include <string.h>

/* What a job would have kept after its failure was not seen. One that ran out of memory has
 * violated its budget by that, or was allowed to. */
static void doubt_failed(struct seep_gate_check *check, const json_t *report)
{
    const json_t *job = json_object_get(report, "job");
    const json_t *process = seep_get_crashed(report);

    if (!process || seep_compare_ran_out(report))
        return;
    if (strcmp(seep_get_text(job, "step_source", ""), "time") == 0)
        seep_gate_check_doubt(check, "the job failed before its first step (%s): fix that first",
                              seep_get_exit_text(process));
    else
        seep_gate_check_doubt(
            check, "the job failed after %.0f steps (%s): fix that, or add --allow-incomplete",
            seep_get_number(job, "steps"), seep_get_exit_text(process));
}

/* Time slices show that something grows, but not that nothing does. */
static void doubt_without_steps(struct seep_gate_check *check, const json_t *report)
{
    if (strcmp(seep_get_text(json_object_get(report, "job"), "step_source", ""), "time") == 0)
        seep_gate_check_doubt(check, "no training step was seen: call seep.step() once a step, or "
                                     "bound what may grow with --max-growth");
}

static bool is_open(const json_t *finding)
{
    struct seep_slope growth;

    return strcmp(seep_get_text(finding, "verdict", ""), "holds") == 0 &&
           strcmp(seep_get_text(finding, "pattern", ""), "undetermined") == 0 &&
           strcmp(seep_get_text(finding, "severity", ""), "pressure") == 0 &&
           seep_get_slope(finding, "growth_bytes_per_step", &growth) && growth.value > 0;
}

static void doubt_growing(struct seep_gate_check *check, const json_t *report)
{
    const json_t *job = json_object_get(report, "job");
    struct seep_slope growth;
    char each[SEEP_SIZE_TEXT];
    json_t *finding;
    size_t i;

    json_array_foreach (check->findings, i, finding) {
        if (!is_open(finding))
            continue;
        seep_get_slope(finding, "growth_bytes_per_step", &growth);
        seep_gate_check_doubt(check,
                              "%s grows by %s a %s, and %.0f %ss do not show whether it goes on: "
                              "run more",
                              seep_get_text(finding, "id", "?"), seep_text_size(growth.value, each),
                              seep_get_step_unit(job), seep_get_number(job, "steps"),
                              seep_get_step_unit(job));
    }
}

static void doubt_short(struct seep_gate_check *check, const json_t *report,
                        const struct seep_budget *budget, bool asks_for_findings)
{
    const double steps = seep_get_number(json_object_get(report, "job"), "steps");
    struct seep_error err = {0};

    if (steps < (double)budget->min_steps)
        seep_gate_check_doubt(check, "the job has %.0f steps, but min_steps is %llu: record more",
                              steps, (unsigned long long)budget->min_steps);
    if (asks_for_findings && seep_compare_long_enough(report, &err))
        seep_gate_check_doubt(check, "%s", err.text);
}

void seep_gate_look_for_doubt(struct seep_gate_check *check, const json_t *report,
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
