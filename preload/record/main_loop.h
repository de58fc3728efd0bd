/* Iterations of the job's main loop as steps, where it has no better ones: a process that trains
 * without an optimizer of PyTorch's, evaluates, or simulates.
 *
 * Only the first thread of a process is watched, and only while its loop would be counted, so
 * that a training pays nothing for it. */
#ifndef SEEP_PRELOAD_RECORD_MAIN_LOOP_H
#define SEEP_PRELOAD_RECORD_MAIN_LOOP_H

#include "preload/record/thread.h"

/* Decides whether the thread's loops are watched: thread->watches_loops. Once in some events. */
void seep_main_loop_review(struct seep_thread *thread);

/* The stack of an event has been captured, thread->stack; only where thread->watches_loops. */
void seep_main_loop_event(struct seep_thread *thread);

/* In a forked child: its loops are its own. */
void seep_main_loop_after_fork(void);

/* Code was unloaded: addresses may come to mean something else. */
void seep_main_loop_forget(void);

#endif
