/* What is read of the process, in a frozen copy: how that is made, and what it does until it ends;
 * or in its place, while the caller waits. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_H

#include <stdbool.h>

#include "libprof/format/snapshot_format.h"

/* Where a copy ends with one of these plus an enum seep_snapshot_refusal, that is why; with 0 it
 * has been read. */
enum { SEEP_COPY_REFUSED = 64 };

/* Around the making of a copy: it is to begin with all of them blocked. */
uint64_t seep_snapshot_block_signals(void);
void seep_snapshot_restore_signals(uint64_t mask);

/* Makes a copy of the process by way of the slot, which the caller has taken, for `step` of
 * `period`. Returns its pid, or a negative errno of clone(). What the copy owns: `slot` until it
 * frees it. The job sees nothing of it: no signal, no wait, no descriptor. From when the slot has
 * its pid it holds nothing of the job's any more; one that has not in time is to be ended. */
long seep_snapshot_clone(struct seep_snapshot_slot *slot, uint32_t step, uint32_t period);

/* Ends a copy, and takes its end. False: it has not come after `most_ms`, and seep_snapshot_reap()
 * takes it later. */
bool seep_snapshot_end(long pid, unsigned most_ms);

/* Has the process itself read by way of the slot, while the caller waits, for `most_ns` at the
 * most; in Python it holds the lock that keeps all objects as they are. `admit`: whoever reads is
 * no ancestor, and has to be admitted by the process where Yama guards it, which the process keeps.
 * Leaves the slot as it is, with nothing of this process in it. Returns SEEP_N_SNAPSHOT_REFUSALS:
 * it was read; or why not. */
int seep_snapshot_in_place(struct seep_snapshot_slot *slot, uint32_t step, uint32_t period,
                           uint64_t most_ns, bool admit);

/* How a copy that has ended did, for its maker: 1 and *refusal (SEEP_N_SNAPSHOT_REFUSALS: it was
 * read), 0 while it has not. */
int seep_snapshot_reap(long pid, enum seep_snapshot_refusal *refusal);

#endif
