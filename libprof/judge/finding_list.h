/* Findings beside each other: which are one matter, and which come first. */
#ifndef SEEP_LIBPROF_JUDGE_FINDING_LIST_H
#define SEEP_LIBPROF_JUDGE_FINDING_LIST_H

#include "libprof/patterns/finding.h"

/* Makes one finding of those that are one autograd graph, or that one container keeps: the line
 * with most stands, the others are its evidence. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_findings_join(const struct seep_model *m, struct seep_findings *f);

/* Most severe first, without those that another one explains: of lines that only fill an
 * allocator's cache, of arenas that forked workers copy. */
void seep_findings_sort(const struct seep_model *m, struct seep_findings *f);

/* Drops negligible findings beside a large one of the same function, and those beyond
 * SEEP_MAX_FINDINGS, which it counts. */
void seep_findings_cut(const struct seep_model *m, struct seep_findings *f);

#endif
