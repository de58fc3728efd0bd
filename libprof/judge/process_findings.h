/* Findings on processes as such: a process keeps starting children that do not end. */
#ifndef SEEP_LIBPROF_JUDGE_PROCESS_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_PROCESS_FINDINGS_H

#include "libprof/model/model.h"
#include "libprof/patterns/finding.h"

/* Adds a finding, without a line, for each process with steps whose children pile up: they are
 * started throughout, and hardly any ends before it does. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_processes_judge(const struct seep_model *m, struct seep_findings *out);

#endif
