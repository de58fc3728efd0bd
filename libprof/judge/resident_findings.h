/* Findings on memory that no hook saw: on the host by RSS, on devices by what their driver says. */
#ifndef SEEP_LIBPROF_JUDGE_RESIDENT_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_RESIDENT_FINDINGS_H

#include "libprof/measure/resident/resident_memory.h"
#include "libprof/patterns/finding.h"

/* Adds a finding if unexplained RSS grows: it has no line, so no frame and no sites. Also adds
 * evidence to a finding on the heap's cache if free memory in libc's arenas grows. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_rss_judge(const struct seep_model *m, const struct seep_rss_table *table,
                                   struct seep_findings *out);

/* Adds a finding, also without a line, for each device on which ranks that work on another one have
 * a context; if there is a finding for their blocks already, adds to its evidence instead. Returns
 * 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_contexts_judge(const struct seep_model *m, struct seep_findings *out);

#endif
