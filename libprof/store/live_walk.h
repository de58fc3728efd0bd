/* Goes through the live set: every block that is in it. For who makes a list of all, in a process
 * that has no other thread (a copy of the job), but where said: nothing is locked. What was being
 * changed as the copy was made may be missing, or be there with the size that it had before.
 * Runtime part. Allocates: nothing. */
#ifndef SEEP_LIBPROF_STORE_LIVE_WALK_H
#define SEEP_LIBPROF_STORE_LIVE_WALK_H

#include "libprof/store/live_blocks.h"

void seep_live_each(seep_live_visitor *visit, void *arg);

/* The first block of a page's cell or shadow that begins in [start, end), as it is at this instant:
 * other threads may go on. False: there is none. */
bool seep_live_next(uintptr_t start, uintptr_t end, uintptr_t *address, uint64_t *bytes);

/* The last such one. */
bool seep_live_previous(uintptr_t start, uintptr_t end, uintptr_t *address, uint64_t *bytes);

/* Whether a block begins at `address`, where libc may place one. */
bool seep_live_has(uintptr_t address);

#endif
