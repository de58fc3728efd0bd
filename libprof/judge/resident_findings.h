/* Findings on resident memory that no hook saw. */
#ifndef SEEP_LIBPROF_JUDGE_RESIDENT_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_RESIDENT_FINDINGS_H

#include "libprof/judge/finding.h"
#include "libprof/measure/resident_memory.h"

/* Adds a finding where the unexplained part grows: it has no line, so no frame and no sites. And a
 * word to a finding of the heap's cache, where what is free in libc's arenas grows. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_rss_judge(const struct seep_model *m, const struct seep_rss_table *table,
                                   struct seep_findings *out);

#endif
