/* Starting a job and staying with it until it ends. */
#ifndef SEEP_VIEWER_LAUNCH_H
#define SEEP_VIEWER_LAUNCH_H

#include "libprof/base/error.h"
#include "viewer/job_folder.h"
#include "viewer/watch/copies.h"
#include "viewer/watch/devices.h"
#include "viewer/watch/ends.h"
#include "viewer/watch/witness.h"

#include <signal.h>
#include <sys/types.h>

struct seep_launch {
    pid_t pid;
    sigset_t waited; /* the signals that seep_launch_wait() takes from its queue */
    struct seep_witness witness;
    struct seep_copies *holders; /* the caller's; all zero where copies are not read */
    struct seep_devices devices; /* all zero where device memory is not asked for */
    struct seep_ends ends;
};

/* Forks and execs `path` with argv and environ as they are. The job gets the signal mask and
 * dispositions that the caller had at its first call, and its open files; from here on the caller
 * blocks the signals it will pass on. The
 * job's orphans get the parent that they would have without seep. Returns 0; or a negative errno of
 * fork() or exec(). */
SEEP_MUST_CHECK int seep_launch_start(struct seep_launch *launch, const char *path,
                                      char *const *argv);

/* Waits for the job's first process, passes signals on, samples resident memory and notes how
 * processes end in the folder's job table. Does not wait for processes that outlive the first one.
 * Returns its wait status. */
int seep_launch_wait(struct seep_launch *launch, struct seep_job_folder *folder);

#endif
