/* The containers that memory is held in, each over all snapshots of all processes: one that every
 * worker has is one. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_SERIES_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_SERIES_H

#include "libprof/who/merge/holders_folder.h"
#include "libprof/who/merge/holders_length.h"

struct seep_holders_container {
    const struct seep_holders_path
        *path;      /* the one that holds most in its process's last snapshot */
    uint32_t *pids; /* of the processes that have it, rising, each once */
    size_t n_pids;
    uint64_t bytes;                      /* that it holds, by the last snapshot of each */
    struct seep_holders_length *lengths; /* of the process in which it grows most; steps rising */
    size_t n_lengths;
    struct seep_holders_pace pace; /* of those */
};

struct seep_holders_series {
    struct seep_holders_container *list; /* by what they are known by */
    size_t n;
};

/* Borrows the files. Returns 0 or -SEEP_ENOMEM. Allocates: *series; free with
 * seep_holders_series_fini(), also after an error. */
SEEP_MUST_CHECK int seep_holders_series_make(const struct seep_holders_files *files,
                                             struct seep_holders_series *series);
void seep_holders_series_fini(struct seep_holders_series *series);

/* The container of a path, NULL where it has none. */
const struct seep_holders_container *
seep_holders_series_find(const struct seep_holders_series *series,
                         const struct seep_holders_path *path);

#endif
