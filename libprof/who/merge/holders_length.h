/* How the length of a container moves from snapshot to snapshot: whether it grows, and by how many
 * entries a step. A length is counted, not measured: it has no noise; but snapshots are few, and
 * lie ever further apart. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_LENGTH_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_LENGTH_H

#include "libprof/base/statistics.h"

struct seep_holders_length {
    uint32_t step;
    uint64_t length;
};

struct seep_holders_pace {
    bool known; /* there were enough snapshots to say it */
    bool grows; /* more often up than chance would have it, to the end, and never far down */
    struct seep_slope slope; /* entries a step */
};

/* Of points[0, n), steps rising, each once. Known from SEEP_STATISTICS_MIN points on; of more than
 * SEEP_STATISTICS_MAX some are left out. Pure. */
struct seep_holders_pace seep_holders_pace_of(const struct seep_holders_length *points, size_t n);

#endif
