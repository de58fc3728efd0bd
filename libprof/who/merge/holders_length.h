/* How the length of a container changes from snapshot to snapshot: whether it grows, and by how
 * many entries a step. Lengths are counted, so they have no noise; but snapshots are few, and ever
 * further apart. */
#ifndef SEEP_LIBPROF_WHO_MERGE_HOLDERS_LENGTH_H
#define SEEP_LIBPROF_WHO_MERGE_HOLDERS_LENGTH_H

#include "libprof/base/statistics.h"

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

#endif
