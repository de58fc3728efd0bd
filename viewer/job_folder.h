/* The launcher's side of a profile folder: making it, and the job's shared file in it. */
#ifndef SEEP_VIEWER_JOB_FOLDER_H
#define SEEP_VIEWER_JOB_FOLDER_H

#include "libprof/base/error.h"
#include "libprof/format/profile_format.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct seep_job_folder {
    char path[SEEP_PATH_BYTES - 64]; /* absolute */
    bool made;                       /* by us, to be removed again when the job cannot start */
    struct seep_job *job;            /* mapped, shared with the job's processes */
    uint64_t oom_kills;              /* of this cgroup, before the job began */
};

/* Makes (or takes over, where it is there and holds no profile) the folder `dir`, relative to the
 * working folder, and job.seepjob in it, for the command argv. With `numbered`, a folder that is
 * taken is passed over for dir.2, dir.3, … (dir ends in ".d", which stays at the end). Returns 0;
 * -SEEP_EINVAL where the folder is taken; -SEEP_EIO where it cannot be written to. *err has file
 * and reason. On failure nothing is left behind. */
SEEP_MUST_CHECK int seep_job_folder_make(struct seep_job_folder *folder, const char *dir,
                                         bool numbered, char *const *argv, struct seep_error *err);

/* The job is for a machine of `bytes` of memory: it is judged by that where it is less than what
 * was found here. 0: by what was found. */
void seep_job_folder_limit(struct seep_job_folder *folder, uint64_t bytes);

/* Notes how a process of the job ended, in its youngest entry, unless somebody else has. */
void seep_job_folder_reaped(struct seep_job_folder *folder, pid_t pid, int wait_status);

/* Notes the end of the job. */
void seep_job_folder_ended(struct seep_job_folder *folder, int wait_status);

/* Takes back what seep_job_folder_make() made, for a job that did not start. */
void seep_job_folder_undo(struct seep_job_folder *folder);

#endif
