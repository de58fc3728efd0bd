/* The limits of memory that a process runs under. */
#ifndef SEEP_PRELOAD_LIFE_PROCESS_LIMITS_H
#define SEEP_PRELOAD_LIFE_PROCESS_LIMITS_H

#include "libprof/format/profile_format.h"

/* Fills the limit_ fields: RLIMIT_AS, RLIMIT_DATA, the tightest cgroup (v2, else v1) on the way up
 * from the process's own, RAM. 0 where there is none or it cannot be read. */
void seep_process_limits_read(struct seep_header *header);

#endif
