/* The table of processes in the job's file: entries are found, taken, and reused once their process
 * was only counted and has ended. */
#ifndef SEEP_PRELOAD_JOB_TABLE_H
#define SEEP_PRELOAD_JOB_TABLE_H

#include <stdint.h>

#include "libprof/format/profile_format.h"

extern struct seep_job *seep_job_map; /* NULL: there is none */
extern char seep_job_path[SEEP_PATH_BYTES + 32];

/* All of these need the file. Entries are given as index + 1, 0: none. */

/* How many entries have been taken. */
uint32_t seep_table_count(void);

/* The youngest entry of a pid: after an exec a pid has two, and pids are used again. */
uint32_t seep_table_find(uint32_t pid);

/* The same for a process that exists. */
uint32_t seep_table_find_alive(uint32_t pid);

/* An entry for a process whose youngest is `own`: that one again if it was only counted until the
 * exec. */
uint32_t seep_table_take(uint32_t own);

#endif
