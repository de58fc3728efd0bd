/* A frozen copy of the process: how it is made, and what it does until it ends. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_H

#include "libprof/format/snapshot_format.h"

/* Where a copy ends with one of these plus an enum seep_snapshot_refusal, that is why; with 0 it
 * has been read. */
enum { SEEP_COPY_REFUSED = 64 };

/* Makes a copy of the process by way of the slot, which the caller has taken, for `step` of
 * `period`. Returns its pid, or a negative errno of clone(). What the copy owns: `slot` until it
 * frees it. The job sees nothing of it: no signal, no wait, no descriptor. */
long seep_snapshot_clone(struct seep_snapshot_slot *slot, uint32_t step, uint32_t period);

/* How a copy that has ended did, for its maker: 1 and *refusal (SEEP_N_SNAPSHOT_REFUSALS: it was
 * read), 0 while it has not. */
int seep_snapshot_reap(long pid, enum seep_snapshot_refusal *refusal);

#endif
