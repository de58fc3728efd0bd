/* The containers that hold memory, each over all snapshots of all processes: one that every worker
 * has counts once. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_SERIES_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_SERIES_H

#include "libprof/who/merge/holders_folder.h"
#include "libprof/who/merge/holders_length.h"

struct seep_holders_container {
    const struct seep_holders_path
        *path;      /* of the one that holds most in its process's last snapshot */
    uint32_t *pids; /* of the processes that have it, ascending, each once */
    size_t n_pids;
    uint64_t bytes;                      /* held by it, in the last snapshot of each process */
    struct seep_holders_length *lengths; /* in the process in which it grows most; steps
                                          * ascending */
    size_t n_lengths;
    struct seep_holders_pace pace; /* of those lengths */
};

struct seep_holders_series {
    struct seep_holders_container *list; /* by key */
    size_t n;
};

/* Borrows the files. Returns 0 or -SEEP_ENOMEM. Allocates: *series; free with
 * seep_holders_series_fini(), also after an error. */
SEEP_MUST_CHECK int seep_holders_series_make(const struct seep_holders_files *files,
                                             struct seep_holders_series *series);
void seep_holders_series_fini(struct seep_holders_series *series);

/* The container of a path, NULL if it has none. */
const struct seep_holders_container *
seep_holders_series_find(const struct seep_holders_series *series,
                         const struct seep_holders_path *path);

#endif
