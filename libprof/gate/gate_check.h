/* A check is built here, line by line; gate.h describes the result. The verdict on a fix
 * (fix_verdict.h) is built as a check without lines. */
#ifndef SEEP_LIBPROF_GATE_GATE_CHECK_H
#define SEEP_LIBPROF_GATE_GATE_CHECK_H

#include "libprof/base/error.h"
#include "libprof/report_read/site_pairs.h"

#include <jansson.h>
#include <stdbool.h>

struct seep_budget;
struct seep_budget_line;

struct seep_gate_check {
    json_t *lines, *findings, *notes; /* findings: copies of the report's, with verdicts */
    char *doubt;                      /* why nobody can tell whether it holds; NULL: nothing */
    bool violated, failed;            /* failed: no memory */
};

/* Begins a check with a copy of each finding of the report (NULL: none); the caller sets their
 * verdicts. Returns 0 or -SEEP_ENOMEM; call seep_gate_check_fini() in either case. */
SEEP_MUST_CHECK int seep_gate_check_init(struct seep_gate_check *check, const json_t *report);
void seep_gate_check_fini(struct seep_gate_check *check);

/* Adds a line with its verdict ("violated" makes the whole check violated). Takes over `name` and
 * `text` (NULL: no memory), and `more`, the members that only some lines have (NULL: none). */
void seep_gate_check_add_line(struct seep_gate_check *check, const char *kind, const char *verdict,
                              char *name, char *text, json_t *more);
void seep_gate_check_note(struct seep_gate_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says why nobody can tell, unless that was said already: of no use once it is violated. */
void seep_gate_check_doubt(struct seep_gate_check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Says so where nothing is violated and yet nothing is shown: by a job that failed, had no step or
 * too few, or has a line that grows and may go on. (gate_doubt.c). */
void seep_gate_look_for_doubt(struct seep_gate_check *check, const json_t *report,
                              const struct seep_budget *budget, bool asks_for_findings);

/* *document out, a new reference: the check of a report. Returns 0, or -SEEP_ENOMEM, also if memory
 * was short earlier. */
SEEP_MUST_CHECK int seep_gate_check_finish(const struct seep_gate_check *check,
                                           const json_t *report, json_t **document);

/* Compares a report, the second run, with an older one of the same job. Adds a line for each
 * finding and place that is new or has grown, or one line that holds if there are none, and changes
 * the verdicts of the check's findings (gate_baseline.c). */
void seep_gate_baseline(struct seep_gate_check *check, const struct seep_compared runs[2]);

/* Gives each finding of the check its first verdict: "ignored" with the reason if a rule of the
 * budget matches it, else "holds" (gate_findings.c). */
void seep_gate_ignore(struct seep_gate_check *check, const struct seep_budget *budget);

/* Adds the line of the check for a budget of kind SEEP_BUDGET_FINDINGS. */
void seep_gate_findings(struct seep_gate_check *check, const json_t *report,
                        const struct seep_budget_line *line);

/* A job that ran out of memory, whether it died or caught the error, violates every budget that
 * does not say how often it may. Adds that line if the job did and the budget does not. */
void seep_gate_shortage(struct seep_gate_check *check, const json_t *report,
                        const struct seep_budget *budget);

/* Whether the line says how often the job may run out of memory. */
bool seep_gate_is_of_shortage(const struct seep_budget_line *line);

/* Adds the line of the check for a budget on holders, of kind SEEP_BUDGET_HOLDER or
 * SEEP_BUDGET_LOST. A container that no snapshot saw hold anything has not grown. Returns 0;
 * -SEEP_ENODATA with *err if the report has no snapshot, or too few of that container
 * (gate_holders.c). */
SEEP_MUST_CHECK int seep_gate_holders(struct seep_gate_check *check, const json_t *report,
                                      const struct seep_budget_line *line, struct seep_error *err);

#endif
