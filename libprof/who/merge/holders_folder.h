/* The snapshots of holders in folders of profiles: every file that could be read, and why others
 * could not. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_FOLDER_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_FOLDER_H

#include "libprof/who/merge/holders_read.h"

enum {
    SEEP_HOLDERS_MAX_FILES = 4096,      /* in all folders */
    SEEP_HOLDERS_MAX_BYTES = 128 << 20, /* in all files together */
};

struct seep_holders_files {
    struct seep_holders_snapshot *list; /* by folder, process and step */
    size_t n, capacity;
    char **said; /* a sentence for each file that could not be read, or is not whole */
    size_t n_said, said_capacity;
};

/* Reads all files holders-PID-STEP.json in the folders; a folder that is given twice is read once.
 * Files and folders that cannot be read are reported in `said`. Returns 0 or -SEEP_ENOMEM.
 * Allocates: *files; free with seep_holders_files_fini(), also after an error. */
SEEP_MUST_CHECK int seep_holders_open(const char *const *dirs, size_t n_dirs,
                                      struct seep_holders_files *files);

/* Adds one file that is in memory. `folder` tells processes of several folders apart. Returns 0,
 * also if it cannot be read, which `said` reports; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_holders_add(struct seep_holders_files *files, uint32_t folder,
                                     const char *file, const char *bytes, size_t n);

/* Reports which snapshots are not whole, and why, each reason once. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_holders_say_incomplete(struct seep_holders_files *files);
void seep_holders_files_fini(struct seep_holders_files *files);

/* −1, 0 or 1: compares the processes of two snapshots by folder, place in the job's table, and
 * pid. */
int seep_holders_by_process(const struct seep_holders_snapshot *a,
                            const struct seep_holders_snapshot *b);

#endif
