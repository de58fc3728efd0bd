/* Goes through the live set: every block that is in it. Meant for a process that has no other
 * thread (a copy of the job), except where noted: nothing is locked. A block that was being changed
 * as the copy was made may be missing. Runtime part. Allocates: nothing. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_LIVE_WALK_H
#define SEEP_LIBPROF_RUNTIME_STORE_LIVE_WALK_H

#include "libprof/runtime/store/live_blocks.h"

void seep_live_each(seep_live_visitor *visit, void *arg);

/* The first block of the directory that begins in [start, end) at this instant: other threads may
 * continue. False: there is none. */
bool seep_live_next(uintptr_t start, uintptr_t end, uintptr_t *address, uint64_t *bytes);

/* The last such block. */
bool seep_live_previous(uintptr_t start, uintptr_t end, uintptr_t *address, uint64_t *bytes);

/* The block of a page that extends beyond it, at this instant. Stores where in the page it begins.
 * Looks at no page with more than a line of blocks: there is none, but for the last of many small
 * ones. */
bool seep_live_large(struct seep_live_page *page, uintptr_t *begins, struct seep_block *block);

/* Whether a block begins at `address`, where libc may place one. */
bool seep_live_has(uintptr_t address);

#endif
