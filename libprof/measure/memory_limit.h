/* The memory limits that a job is under, and how far growth is from them. */
#ifndef SEEP_LIBPROF_MEASURE_MEMORY_LIMIT_H
#define SEEP_LIBPROF_MEASURE_MEMORY_LIMIT_H

#include "libprof/judge/diagnosis.h"

/* The tightest limit that holds for the job as a whole (cgroup, RAM of the main process's machine);
 * where none is known, the tightest of single processes. 0 none known; *kind says which:
 * "cgroup-v2", "cgroup-v1", "ram", "RLIMIT_AS", "RLIMIT_DATA" or "none". */
uint64_t seep_memory_limit_of(const struct seep_model *m, const char **kind);

/* Sets limit_bytes and steps_to_limit of a finding on host memory, by the limit that its growth
 * reaches first, and says in the evidence what is in use. Needs the finding's processes. */
void seep_limit_set(const struct seep_model *m, struct seep_finding *finding);

#endif
