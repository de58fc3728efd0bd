/* The tick does what is due by the clock: time slices, the timeline of the process, its RSS. */
#ifndef SEEP_PRELOAD_RECORD_TICK_H
#define SEEP_PRELOAD_RECORD_TICK_H

#include "preload/record/thread.h"

enum { SEEP_EVENTS_PER_TICK = 64 };

/* Looks at the (coarse) clock and does what is due. Called every so many events, inside the guard.
 */
void seep_tick(struct seep_thread *thread);

/* The last one, as the process ends. */
void seep_tick_final(void);

void seep_tick_after_fork(void);
struct seep_lock *seep_tick_lock(void);

#endif
