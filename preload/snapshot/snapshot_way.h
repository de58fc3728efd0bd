/* How a process is read when a reading is due: in a copy, in place, or not at all. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_WAY_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_WAY_H

#include "libprof/format/snapshot_format.h"
#include "preload/snapshot/snapshot_policy.h"

#define SEEP_MILLISECOND UINT64_C(1000000)

struct seep_snapshot_way {
    int refusal; /* enum seep_snapshot_refusal; −1: none */
    bool in_place;
    uint64_t most_ns; /* how long the process waits in place */
};

/* Anything unknown about the process counts against reading it. */
struct seep_snapshot_way seep_snapshot_choose(const struct seep_snapshot_policy *policy,
                                              const struct seep_snapshot_moment *now,
                                              enum seep_snapshot_source source);

/* A child may be in another pid namespace than its parent. */
void seep_snapshot_way_after_fork(void);

#endif
