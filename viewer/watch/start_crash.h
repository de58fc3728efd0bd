/* Whether the job's first program died in the start of seep's library: then nothing of the job has
 * run, and it can be run again without seep. The library says so in the job's folder
 * (preload/life/first_start.h). */
#ifndef SEEP_VIEWER_WATCH_START_CRASH_H
#define SEEP_VIEWER_WATCH_START_CRASH_H

#include "viewer/job_folder.h"

/* Makes the file that the library takes. Without it a job is never run twice. */
void seep_start_crash_watch(const struct seep_job_folder *folder);

/* Removes that file. True: the process `job` has taken it, and did not come to the end of
 * its start. */
bool seep_start_crash_seen(const struct seep_job_folder *folder, pid_t job);

#endif
