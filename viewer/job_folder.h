/* `seep run`'s side of a profile folder: making it, and the job's shared file in it. */
#ifndef SEEP_VIEWER_JOB_FOLDER_H
#define SEEP_VIEWER_JOB_FOLDER_H

#include "libprof/base/error.h"
#include "libprof/format/profile_format.h"
#include "viewer/job_limits.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct seep_job_folder {
    char path[SEEP_PATH_BYTES - 64]; /* absolute */
    char asked[SEEP_PATH_BYTES];     /* the one that was wanted first, as it was given */
    bool made;                       /* seep made it, and removes it when the job cannot start */
    bool beside;                     /* that one is taken */
    bool within;                     /* it is a part of the folder that was asked for */
    int n_parents_made;              /* folders above it, likewise */
    struct seep_job *job;            /* mapped, shared with the job's processes */
    struct seep_limits limits;       /* of seep itself, before the job began */
    uint64_t own_oom_kills;          /* processes of seep's own that the kernel has killed */
};

/* Makes the folder `dir`, relative to the working folder, and those above it (or uses it where it
 * exists and holds no profile), and job.seepjob in it, for the command argv. `part`: the name of a
 * folder in `dir`, which is made instead, unless `dir` itself holds a profile; NULL: none. A folder
 * that is taken is passed over for dir.2, dir.3, … (".d" stays at the end). Returns 0; -SEEP_EINVAL
 * where a thousand of them are taken; -SEEP_EIO where it cannot be written to. *err has file and
 * reason. On failure nothing is left behind. */
SEEP_MUST_CHECK int seep_job_folder_make(struct seep_job_folder *folder, const char *dir,
                                         const char *part, char *const *argv,
                                         struct seep_error *err);

/* For a job that nothing is recorded of: a table that is nobody's. Returns 0 or a negative errno.
 */
SEEP_MUST_CHECK int seep_job_folder_none(struct seep_job_folder *folder);

/* The job is meant for a machine with `bytes` of memory: it is judged by that limit where it is
 * lower than the one found here. 0: by the one found here. */
void seep_job_folder_limit(struct seep_job_folder *folder, uint64_t bytes);

/* Notes how a process of the job ended, in its latest entry, unless that is already noted. */
void seep_job_folder_reaped(struct seep_job_folder *folder, pid_t pid, int wait_status);

/* A process of seep's own was killed by SIGKILL, and not by seep. True if the kernel has killed one
 * more for lack of memory than are known to be seep's own: then it is not the job's. */
bool seep_job_folder_own_oom_kill(struct seep_job_folder *folder);

/* Notes the end of the job. */
void seep_job_folder_ended(struct seep_job_folder *folder, int wait_status);

/* Undoes seep_job_folder_make(), for a job that did not start. */
void seep_job_folder_undo(struct seep_job_folder *folder);

#endif
