/* Findings beside each other and beside the rest of the job, once all lines are judged: which are
 * one matter, which come first, and what is added to each. */
#ifndef SEEP_LIBPROF_JUDGE_FINDING_LIST_H
#define SEEP_LIBPROF_JUDGE_FINDING_LIST_H

#include "libprof/code/code.h"
#include "libprof/patterns/finding.h"
#include "libprof/signs/case.h"

/* Makes one finding of those that are one autograd graph, or that one container keeps: the line
 * with most stands, the others are its evidence. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_findings_join(const struct seep_model *m, struct seep_findings *f);

/* Most severe first, without those that another one explains: of lines that only fill an
 * allocator's cache, of arenas that forked workers copy. */
void seep_findings_sort(const struct seep_model *m, struct seep_findings *f);

/* Drops negligible findings beside a large one of the same function, and those beyond
 * SEEP_MAX_FINDINGS, which it counts. */
void seep_findings_cut(const struct seep_model *m, struct seep_findings *f);

/* Drops findings of segments that are kept because tensors are, where there are findings of these,
 * too, which get it as evidence: together, segments grow at most twice as fast as the tensors; or,
 * where they do not grow any more, have grown at most twice as much. Most severe ones are first in
 * *f. Returns 0 or -SEEP_ENOMEM (segment_findings.c). */
SEEP_MUST_CHECK int seep_segments_join(const struct seep_code *code, struct seep_findings *f);

/* Sets limit_bytes and steps_to_limit of a finding on host memory, by the limit that its growth
 * reaches first, or on a device, by its capacity, and says in the evidence what is in use. Needs
 * the finding's processes (limit_evidence.c). */
void seep_finding_set_limit(const struct seep_model *m, struct seep_finding *finding);

/* Where snapshots saw that nobody holds what a finding is about, sets its advice and notes the
 * calls that made it, innermost first: "PyArray_IterNew ← diag ← roots". Others stay as they are.
 * Looks up symbols. Returns 0 or -SEEP_ENOMEM (lost_advice.c). */
SEEP_MUST_CHECK int seep_lost_advise(const struct seep_case *c, struct seep_finding *f);

#endif
