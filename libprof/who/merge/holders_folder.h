/* The snapshots of holders that lie in folders of profiles: each file read, and what could not be.
 */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_FOLDER_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_FOLDER_H

#include "libprof/who/merge/holders_read.h"

enum {
    SEEP_HOLDERS_MAX_FILES = 4096,      /* of all folders */
    SEEP_HOLDERS_MAX_BYTES = 128 << 20, /* of all files together */
};

struct seep_holders_files {
    struct seep_holders_snapshot *list; /* by folder, process and step */
    size_t n, capacity;
    char **said; /* a sentence for what could not be read, or is not whole */
    size_t n_said, said_capacity;
};

/* Reads all files holders-PID-STEP.json in the folders; one that is given twice is read once. A
 * folder or file that cannot be read is said. Returns 0 or -SEEP_ENOMEM. Allocates: *files; free
 * with seep_holders_files_fini(), also after an error. */
SEEP_MUST_CHECK int seep_holders_open(const char *const *dirs, size_t n_dirs,
                                      struct seep_holders_files *files);

/* Adds one file that is in memory. `folder` tells processes of several folders apart. Returns 0,
 * also where it cannot be read, which is said; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_holders_add(struct seep_holders_files *files, uint32_t folder,
                                     const char *file, const char *bytes, size_t n);

/* Says which snapshots are not whole, and why, each reason once. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_holders_say_incomplete(struct seep_holders_files *files);
void seep_holders_files_fini(struct seep_holders_files *files);

/* −1, 0 or 1 by which process a snapshot is of: its folder, its place in the job's table, its pid.
 */
int seep_holders_by_process(const struct seep_holders_snapshot *a,
                            const struct seep_holders_snapshot *b);

#endif
