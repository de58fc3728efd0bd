/* Frozen copies of this process for finding out what holds its memory: whether to make one now, and
 * what became of earlier ones. One at a time in a job; a process that finds the slot taken waits
 * for its next step. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_H

#include "libprof/runtime/store/os.h"

struct seep_thread;

/* Called by lower rooms through preload/record/upcalls.h, which documents these. */
void seep_snapshot_look(const struct seep_thread *thread);
void seep_snapshot_at_shortage(const struct seep_thread *thread);
void seep_snapshot_before_end(void);
void seep_snapshot_goes_on(void);

/* The job asks for a copy now (seep_holders()). Inside the guard. */
void seep_snapshot_asked(const struct seep_thread *thread);

/* The process is about to end, with most of its memory still intact: the last chance. */
void seep_snapshot_last(const struct seep_thread *thread);

/* The same if the thread has no Python frames: then it is the interpreter, ending, that restores
 * signals. */
void seep_snapshot_python_ends(struct seep_thread *thread);

void seep_snapshot_after_fork(void);
struct seep_lock *seep_snapshot_lock(void);

#endif
