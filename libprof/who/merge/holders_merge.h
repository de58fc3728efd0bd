/* Who holds the memory that a line of code allocated: one answer from the snapshots of all
 * processes of a job. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_MERGE_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_MERGE_H

#include "libprof/who/merge/small_rise.h"

struct seep_holders {
    json_t *of_frame; /* what docs/report.schema.json calls finding_holders, by
                       * seep_holders_frame_key() */
    json_t *of_job;   /* what it calls job_holders; JSON's null if no snapshot was read */
    struct seep_small_rise small; /* who holds Python's small objects, which are no line's */
    char **said;                  /* what could not be read, one sentence each */
    size_t n_said;
};

/* Each process answers by its last whole snapshot that knows the line, else by the last that does.
 * Processes that agree share one answer. Of several answers the one with most bytes is given, with
 * the pids for which it is not true. Takes over `said` from *files. Returns 0 or -SEEP_ENOMEM.
 * Allocates: *out; free with seep_holders_fini(), also after an error. */
SEEP_MUST_CHECK int seep_holders_merge(struct seep_holders_files *files, struct seep_holders *out);
void seep_holders_fini(struct seep_holders *holders);

#endif
