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

/* *document out, a new reference: the check of a report. Returns 0, or -SEEP_ENOMEM, also if memory
 * was short earlier. */
SEEP_MUST_CHECK int seep_gate_check_finish(const struct seep_gate_check *check,
                                           const json_t *report, json_t **document);

#endif
