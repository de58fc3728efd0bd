/* Who holds what a line of code made: the snapshots of all processes of a job as one answer. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_MERGE_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_MERGE_H

#include "libprof/who/merge/holders_folder.h"

struct seep_holders {
    json_t *of_frame; /* by seep_holders_frame_key(), what docs/report.schema.json calls
                         finding_holders */
    json_t *of_job;   /* what it calls job_holders; JSON's null where no snapshot was read */
    char **said;      /* what could not be read, a sentence each */
    size_t n_said;
};

/* Of each process the last snapshot that is whole and knows the line answers for it, else the last
 * one that does. Processes that say the same are one answer; of several answers the one that stands
 * for most bytes is given, with the pids for which it is not true.
 * Takes over what is said in *files. Returns 0 or -SEEP_ENOMEM. Allocates: *out; free with
 * seep_holders_fini(), also after an error. */
SEEP_MUST_CHECK int seep_holders_merge(struct seep_holders_files *files, struct seep_holders *out);
void seep_holders_fini(struct seep_holders *holders);

#endif
