/* Findings on what is resident and grows while no line's blocks do: the kernel ends a job by that.
 * And on what it counts against the job though no process has it. */
#ifndef SEEP_LIBPROF_JUDGE_RESIDENT_REST_H
#define SEEP_LIBPROF_JUDGE_RESIDENT_REST_H

#include "libprof/code/code.h"
#include "libprof/patterns/finding.h"

/* Adds a finding if the other findings account for less than half of what RSS grows by, with the
 * part of RSS that gained most. Not on what is unexplained (resident_findings.h), nor on live
 * blocks, which other rules judge. Adds one on files in memory. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_resident_rest_judge(const struct seep_code *code,
                                             struct seep_findings *out);

/* How bad it is that something resident grows. In a short run, and in slices of time, an allocator
 * or a job may still be filling what it keeps. */
enum seep_severity seep_resident_severity(const struct seep_model *m, const struct seep_span *span);

/* Adds a finding without a line if files that the job leaves on a tmpfs grow. Returns 0 or
 * -SEEP_ENOMEM (memory_file_findings.c). */
SEEP_MUST_CHECK int seep_memory_files_judge(const struct seep_model *m, struct seep_findings *out);

#endif
