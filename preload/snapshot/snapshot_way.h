/* How a process is read of which something is due: in a copy, in place, or not at all. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_WAY_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_WAY_H

#include "libprof/format/snapshot_format.h"
#include "preload/snapshot/snapshot_policy.h"

#define SEEP_MILLISECOND UINT64_C(1000000)

struct seep_snapshot_way {
    int refusal; /* enum seep_snapshot_refusal; −1: none */
    bool in_place;
    uint64_t most_ns; /* that the process waits, in place */
    bool admit;       /* whoever reads may have to be admitted, which stays */
};

/* What is not known about the process speaks against reading it. */
struct seep_snapshot_way seep_snapshot_choose(const struct seep_snapshot_policy *policy,
                                              const struct seep_snapshot_moment *now,
                                              enum seep_snapshot_source source);

/* A child may be in another namespace of pids than its parent. */
void seep_snapshot_way_after_fork(void);

#endif
