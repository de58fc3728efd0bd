/* Events of the heap, reported by the hooks of the malloc family. All are called inside the
 * guard. */
#ifndef SEEP_PRELOAD_RECORD_RECORD_H
#define SEEP_PRELOAD_RECORD_RECORD_H

#include "preload/record/thread.h"

/* A block has been made (after the real call). */
void seep_record_allocation(void *block, uint64_t bytes, const struct seep_regs *regs);

/* A block is about to be freed (before the real call). */
void seep_record_free(void *block);

/* A block may move from here, where what is due at the next event is done, to there. The owner
 * learns of it only later: a copy made meanwhile would show what the block holds without its
 * holder, so a look that becomes due waits for the next event (seep_tick_look()). */
void seep_record_move_begins(void);
void seep_record_move_ends(void);

/* realloc takes three calls: the old block is taken out before the real call; afterwards it is
 * either counted as freed or put back. `held->site` is 0 if the block was unknown. */
void seep_record_hold(void *block, struct seep_block *held);
void seep_record_release(void *block, const struct seep_block *held);
void seep_record_put_back(void *block, const struct seep_block *held);

/* The caller with these registers asked for that many bytes (not 0) in host or mmap, and got
 * ENOMEM: notes it in the profile (libprof/format/host_oom_format.h), and watches the thread
 * from now on (SEEP_WATCH_RETRIES). Changes errno. host_oom.c. */
void seep_host_oom_note(uint64_t bytes, const struct seep_regs *regs, unsigned space);

/* A thread watched for that has got a block. `site` is that of its stack, which has just been
 * captured; 0: unknown. */
void seep_host_oom_watch(struct seep_thread *thread, uint64_t bytes, uint32_t site);

#endif
