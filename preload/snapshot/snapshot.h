/* Frozen copies of this process for who asks what holds its memory: whether one is to be made now,
 * and what became of those before. One at a time in a job; whoever finds the slot taken waits for
 * its next step. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_H

#include "libprof/store/os.h"

struct seep_thread;

/* What lower rooms call by way of preload/record/upcalls.h, which says what they do. */
void seep_snapshot_look(const struct seep_thread *thread);
void seep_snapshot_before_end(void);
void seep_snapshot_goes_on(void);

/* The job asks for a copy now (seep_holders()). Inside the guard. */
void seep_snapshot_asked(const struct seep_thread *thread);

/* The process is about to end, with most of its memory still as it was: the last chance. */
void seep_snapshot_last(const struct seep_thread *thread);

/* The same where that is only known if no Python runs: the interpreter gives signals back before it
 * takes its modules apart. */
void seep_snapshot_python_ends(struct seep_thread *thread);

void seep_snapshot_after_fork(void);
struct seep_lock *seep_snapshot_lock(void);

#endif
