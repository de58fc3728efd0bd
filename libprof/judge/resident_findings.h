/* Findings on memory that no hook saw: of the host by what is resident, of devices by what their
 * driver says. */
#ifndef SEEP_LIBPROF_JUDGE_RESIDENT_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_RESIDENT_FINDINGS_H

#include "libprof/measure/resident_memory.h"
#include "libprof/patterns/finding.h"

/* Adds a finding where the unexplained part grows: it has no line, so no frame and no sites. And a
 * word to a finding of the heap's cache, where what is free in libc's arenas grows. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_rss_judge(const struct seep_model *m, const struct seep_rss_table *table,
                                   struct seep_findings *out);

/* Adds a finding of each device on which ranks that work on another one have a context, which has
 * no line either; or a word to the one that there is for their blocks. Returns 0 or -SEEP_ENOMEM.
 */
SEEP_MUST_CHECK int seep_contexts_judge(const struct seep_model *m, struct seep_findings *out);

#endif
