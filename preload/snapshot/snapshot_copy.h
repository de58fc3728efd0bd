/* How the process is read: in a frozen copy, how that is made and what it does until it ends; or in
 * place, while the caller waits. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_H

#include <stdbool.h>

#include "libprof/format/snapshot_format.h"

/* A copy's exit status: 0 if it was read, else this plus an enum seep_snapshot_refusal that says
 * why not. */
enum { SEEP_COPY_REFUSED = 64 };

/* Called before and after making a copy, which must begin with all signals blocked. */
uint64_t seep_snapshot_block_signals(void);
void seep_snapshot_restore_signals(uint64_t mask);

/* Makes a copy of the process for `step` of `period`. The caller has taken `slot`; the copy owns it
 * until it frees it. Returns the copy's pid, or a negative errno of clone(). The job notices
 * nothing of it: no signal, no wait, no descriptor. Once the slot has its pid, the copy holds
 * nothing of the job's; the caller must end a copy that does not get so far in time. */
long seep_snapshot_clone(struct seep_snapshot_slot *slot, uint32_t step, uint32_t period);

/* Ends a copy and reaps it. False: it has not ended after `most_ms`; seep_snapshot_reap() will reap
 * it. */
bool seep_snapshot_end(long pid, unsigned most_ms);

/* Lets a reader read the process itself through the slot while the caller waits, for at most
 * `most_ns`; in Python the caller holds the lock that keeps all objects as they are. Leaves the
 * slot's state as it is, with nothing of this process in it. Returns SEEP_N_SNAPSHOT_REFUSALS if it
 * was read, else why not. */
int seep_snapshot_in_place(struct seep_snapshot_slot *slot, uint32_t step, uint32_t period,
                           uint64_t most_ns);

/* For the maker of a copy. Returns 0 while the copy has not ended, else 1 and its result in
 * *refusal (SEEP_N_SNAPSHOT_REFUSALS: it was read). */
int seep_snapshot_reap(long pid, enum seep_snapshot_refusal *refusal);

#endif
