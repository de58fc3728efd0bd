/* Which findings come first: the one rule, for the report and for all that reads it.
 *
 * A finding weighs what its fix would save, or else what it keeps, and what it would add in another
 * run as long, as a share of the memory that limits it: the GPU's, or the host's. What is accused
 * (a leak, retention) weighs ten times that: it comes before what is only likely, unless it is less
 * than a tenth of it. What needs no fix comes last. */
#ifndef SEEP_LIBPROF_PATTERNS_FINDING_ORDER_H
#define SEEP_LIBPROF_PATTERNS_FINDING_ORDER_H

#include "libprof/model/model.h"
#include "libprof/patterns/finding.h"

/* Sorts by that; what weighs the same by severity, then by line. Pure. */
void seep_findings_order(const struct seep_model *m, struct seep_findings *f);

#endif
