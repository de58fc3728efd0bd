/* Findings in relation to each other and to the rest of the job, once all lines are judged: which
 * have one cause, which come first, and what is added to each. */
#ifndef SEEP_LIBPROF_JUDGE_FINDING_LIST_H
#define SEEP_LIBPROF_JUDGE_FINDING_LIST_H

#include "libprof/code/code.h"
#include "libprof/patterns/finding.h"
#include "libprof/signs/case.h"

/* Joins findings on one autograd graph, or on what one container keeps: the line with most stays,
 * the others are its evidence. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_findings_join(const struct seep_model *m, struct seep_findings *f);

/* Puts what matters most first (finding.h), and drops findings that another one explains:
 * lines that only fill an allocator's cache, arenas that forked workers copy. */
void seep_findings_sort(const struct seep_model *m, struct seep_findings *f);

/* Drops negligible findings beside a large one of the same function, and counts and drops those
 * beyond SEEP_MAX_FINDINGS. */
void seep_findings_cut(const struct seep_model *m, struct seep_findings *f);

/* Drops findings on segments that are kept because tensors are, and adds them as evidence to the
 * findings on those tensors: if, together, segments grow at most twice as fast as the tensors; or,
 * where they no longer grow, have grown at most twice as much. Returns 0
 * or -SEEP_ENOMEM (segment_findings.c). */
SEEP_MUST_CHECK int seep_segments_join(const struct seep_code *code, struct seep_findings *f);

/* Whether its memory counts towards the host's limits. */
bool seep_finding_is_on_host(const struct seep_model *m, const struct seep_finding *finding);

/* Sets peak_bytes, over all of its sites, and notes what was requested, where malloc takes a tenth
 * more for it. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_finding_set_peak(const struct seep_model *m, struct seep_finding *finding);

/* Sets limit_bytes and steps_to_limit: on host memory by the limit that its growth reaches first,
 * on a device by its capacity; notes in the evidence what is in use. Needs the finding's processes
 *. */
void seep_finding_set_limit(const struct seep_model *m, const struct seep_resident_trend *resident,
                            struct seep_finding *finding);

/* Sets the advice that follows from who was seen to hold what a finding is about, and the holder's
 * name. If nobody holds it, notes the calls that allocated it, innermost first: "PyArray_IterNew ←
 * diag ← roots". Looks up symbols. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_holder_advise(const struct seep_case *c, struct seep_finding *f);

#endif
