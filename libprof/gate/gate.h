/* The gate compares a report with budgets and with an older report. */
#ifndef SEEP_LIBPROF_GATE_GATE_H
#define SEEP_LIBPROF_GATE_GATE_H

#include "libprof/gate/budget.h"
#include "libprof/report_read/site_pairs.h"

#include <jansson.h>

struct seep_gate {
    const json_t *report;
    struct seep_json_stream *sites; /* of the report; NULL: those in it */
    struct seep_compared baseline;  /* report NULL: none. If there is one, both have all sites. */
    const struct seep_budget *budget;
};

/* Checks a report. A budget holds only if there is evidence for it: not for a job that failed (but with
 * allow_incomplete), and, where findings are asked for, not by one without steps, with too few, or
 * with a line that grows and may go on. If the budget has no lines and there is no baseline, no
 * finding of severity leak or retention is allowed. Unless the budget says how often a job may run
 * out of memory, it may not. A violation counts even if little else could be judged. *check out, a
 * new reference:
 *
 *     { "format": "seep-check", "version": 1, "seep", "verdict": "holds|violated|unknown",
 *       "reason": why that is unknown; else absent
 *       "job": the report's,
 *       "lines": [ { "id": "B1",
 *                    "kind": "growth|peak|findings|holder|lost|baseline",
 *                    "name": what is allowed,
 *                    "text": what was measured,
 *                    "verdict": "holds|noise|violated",
 *                    where they apply:
 *                    "space", "process", "severity", "pattern", "holder", "limit", "value", "low",
 *                    "high", "frame" } ],
 *       "findings": [ FINDING + { "verdict": "holds|ignored|violated", "reason" (ignored) } ],
 *       "notes": [ text… ] }
 *   "noise": the value is above the limit, but its interval is not.
 * Returns 0; -SEEP_ENODATA if nothing can be judged, -SEEP_EINVAL if the baseline is another
 * job's, with *err; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_gate_check(const struct seep_gate *gate, json_t **check,
                                    struct seep_error *err);

/* The same for a report alone, without budgets: for the formats of `seep report`. */
SEEP_MUST_CHECK int seep_gate_describe(const json_t *report, json_t **check);

#endif
