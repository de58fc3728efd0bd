/* Findings on memory that was counted without stacks: its lines are unknown. */
#ifndef SEEP_LIBPROF_JUDGE_UNCOUNTED_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_UNCOUNTED_FINDINGS_H

#include "libprof/patterns/finding.h"

/* Adds a finding for each process whose profile was full and whose host memory, by its timeline,
 * grows beyond what sites with stacks have. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_uncounted_judge(const struct seep_model *m, struct seep_findings *out);

#endif
