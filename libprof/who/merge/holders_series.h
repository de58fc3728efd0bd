/* The containers that hold memory, each over all snapshots of all processes: one that every worker
 * has counts once. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_SERIES_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_SERIES_H

#include "libprof/base/statistics.h"
#include "libprof/who/merge/holders_folder.h"

/* How the length of a container changes from snapshot to snapshot: whether it grows, and by how
 * many entries a step. Lengths are counted, so they have no noise; but snapshots are few, and ever
 * further apart. */

struct seep_holders_length {
    uint32_t step;
    uint64_t length;
};

struct seep_holders_pace {
    bool known; /* there were enough snapshots to tell */
    bool grows; /* it rises more often than by chance, up to the end, and never falls far */
    struct seep_slope slope; /* entries a step */
};

/* Of points[0, n), steps ascending, each once. Known from SEEP_STATISTICS_MIN points on; above
 * SEEP_STATISTICS_MAX some are left out. Pure. */
struct seep_holders_pace seep_holders_pace_of(const struct seep_holders_length *points, size_t n);

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
