/* `seep run --merge`: when a job ends, the `seep run` of each rank meet over MPI and merge what
 * they recorded. */
#ifndef SEEP_VIEWER_DIGEST_JOB_MERGE_H
#define SEEP_VIEWER_DIGEST_JOB_MERGE_H

#include "viewer/job_folder.h"
#include "viewer/run_options.h"

#include <limits.h>
#include <signal.h>
#include <stdbool.h>

struct seep_job_merge {
    const struct seep_run_options *options;
    char **environment; /* as seep found it: seep-mpi is not recorded */
    int rank;           /* in the launcher's communicator */
    char program[PATH_MAX];
};

/* Before the job begins, and before the environment is changed for it. Says what makes merging
 * impossible here, and returns false then. Allocates m->environment, which lives as long as seep.
 */
bool seep_job_merge_prepare(struct seep_job_merge *m, const struct seep_run_options *options);

/* When it has ended: whether this `seep run` can meet the others. If not, rank 0 says why and what
 * to do. */
bool seep_job_merge_may(const struct seep_job_merge *m, const struct seep_job_folder *folder);

/* Waits for the others and merges; rank 0 writes the digest into the folder above `folder`, and
 * prints its summary unless the options say no. A folder without a path has recorded nothing. Ends
 * early at a signal of `waited` that ends programs; those are blocked. Nothing of what goes wrong
 * ends seep. */
void seep_job_merge(const struct seep_job_merge *m, const struct seep_job_folder *folder,
                    const sigset_t *waited, bool job_failed);

#endif
