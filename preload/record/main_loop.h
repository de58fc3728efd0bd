/* Counts iterations of the job's main loop as steps if there are no better ones: for a process that
 * trains without a PyTorch optimizer, evaluates, or simulates.
 *
 * Only the first thread of a process is watched, and only while its loop would count, so training
 * pays nothing for it. */
#ifndef SEEP_PRELOAD_RECORD_MAIN_LOOP_H
#define SEEP_PRELOAD_RECORD_MAIN_LOOP_H

#include "preload/record/thread.h"

/* Decides whether the thread's loops are watched: SEEP_WATCH_LOOPS. Called every few events. */
void seep_main_loop_review(struct seep_thread *thread);

/* The stack of an event has been captured, thread->stack; only if its loops are watched. */
void seep_main_loop_event(struct seep_thread *thread);

/* Counts rounds of the main loop that have passed without an event that shows a stack: at ticks, and
 * as a large block is freed. Any thread; does nothing but in the first. */
void seep_main_loop_catch_up(struct seep_thread *thread);

/* The same as the process ends: the loop has ended. */
void seep_main_loop_end(struct seep_thread *thread);

/* In a forked child: its loops are its own. */
void seep_main_loop_after_fork(void);

/* Code was unloaded: other code may come to lie at its addresses. */
void seep_main_loop_forget(void);

#endif
