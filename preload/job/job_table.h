/* The table of processes in the job's file: entries are found and taken, and make room for others
 * once their process was only counted and has ended. */
#ifndef SEEP_PRELOAD_JOB_TABLE_H
#define SEEP_PRELOAD_JOB_TABLE_H

#include <stdint.h>

#include "libprof/format/profile_format.h"

extern struct seep_job *seep_job_map; /* NULL: there is none */
extern char seep_job_path[SEEP_PATH_BYTES + 32];

/* All of these only where there is a file. Entries are given as index + 1, 0: none. */

/* How many entries have been taken. */
uint32_t seep_table_count(void);

/* The youngest entry of a pid: after an exec it has two, and pids are used again. */
uint32_t seep_table_find(uint32_t pid);

/* Does the same for a process that is there. */
uint32_t seep_table_find_alive(uint32_t pid);

/* An entry for a process whose youngest is `own`: that one again where it was only counted until it
 * became another program. */
uint32_t seep_table_take(uint32_t own);

#endif
