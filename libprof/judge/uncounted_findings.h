/* Findings on memory that was counted without its stacks: no line can be told. */
#ifndef SEEP_LIBPROF_JUDGE_UNCOUNTED_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_UNCOUNTED_FINDINGS_H

#include "libprof/patterns/finding.h"

/* Adds a finding for each process whose profile was full, and whose host memory grows, by its
 * timeline, beyond what the sites with stacks have. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_uncounted_judge(const struct seep_model *m, struct seep_findings *out);

#endif
