/* The judge: which lines keep memory, in which pattern, and what to do about it. */
#ifndef SEEP_LIBPROF_VERDICT_DIAGNOSIS_H
#define SEEP_LIBPROF_VERDICT_DIAGNOSIS_H

#include "libprof/code/code.h"
#include "libprof/measure/resident/resident_memory.h"
#include "libprof/verdict/finding.h"
#include "libprof/who/merge/line_holders.h"

/* Judges every line of the model that keeps enough. `holders` may be all zero. Returns 0 or
 * -SEEP_ENOMEM.
 * Allocates: *out; free with seep_findings_fini(), also after an error. */
SEEP_MUST_CHECK int seep_diagnose(const struct seep_code *code,
                                  const struct seep_line_holders *holders,
                                  struct seep_findings *out);

/* Adds a finding if unexplained RSS grows: it has no line, so no frame and no sites. Also adds
 * evidence to a finding on the heap's cache if free memory in libc's arenas grows. Returns 0 or
 * -SEEP_ENOMEM (resident_findings.c). */
SEEP_MUST_CHECK int seep_rss_judge(const struct seep_model *m, const struct seep_rss_table *table,
                                   struct seep_findings *out);

/* Adds a finding, without a line, for each process with steps whose children pile up: they are
 * started throughout, and hardly any ends before it does. Returns 0 or -SEEP_ENOMEM
 * (process_findings.c). */
SEEP_MUST_CHECK int seep_processes_judge(const struct seep_model *m, struct seep_findings *out);

#endif
