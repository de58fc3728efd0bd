/* What to do about memory that nobody holds: who lost it, and by which calls. */
#ifndef SEEP_LIBPROF_JUDGE_LOST_ADVICE_H
#define SEEP_LIBPROF_JUDGE_LOST_ADVICE_H

#include "libprof/patterns/finding.h"
#include "libprof/signs/case.h"

/* Where snapshots saw that nobody holds what a finding is about, sets its advice and notes the
 * calls that made it, innermost first: "PyArray_IterNew ← diag ← roots". Others stay as they are.
 * Looks up symbols. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_lost_advise(const struct seep_case *c, struct seep_finding *f);

#endif
