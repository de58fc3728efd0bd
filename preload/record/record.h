/* Events of the heap: what the hooks of the malloc family tell. All are called inside the guard. */
#ifndef SEEP_PRELOAD_RECORD_RECORD_H
#define SEEP_PRELOAD_RECORD_RECORD_H

#include "preload/record/thread.h"

/* A block has been made (after the real call). */
void seep_record_allocation(void *block, uint64_t bytes, const struct seep_regs *regs);

/* A block is about to be freed (before the real call). */
void seep_record_free(void *block);

/* realloc, in three: what the old block was is taken out before the real call; afterwards it is
 * either counted as freed, or put back. `held->site` is 0 where nothing was known of it. */
void seep_record_hold(void *block, struct seep_block *held);
void seep_record_release(void *block, const struct seep_block *held);
void seep_record_put_back(void *block, const struct seep_block *held);

/* Mean gap in bytes of --sample; 0: every allocation. Set once. */
extern uint64_t seep_sample_bytes;

#endif
