/* The tick does what is due by the clock: time slices, the timeline of the process, its RSS. */
#ifndef SEEP_PRELOAD_RECORD_TICK_H
#define SEEP_PRELOAD_RECORD_TICK_H

#include "preload/record/thread.h"

enum {
    SEEP_EVENTS_PER_TICK = 64,
    SEEP_EVENTS_AFTER_FREE = 15, /* odd: a job's own beat is not to meet every tick with a free */
};

/* Looks at the (coarse) clock and does what is due. Called every so many events, inside the guard.
 */
void seep_tick(struct seep_thread *thread);

/* The same where a block is being freed: then no copy of the process is made, for what is taken
 * apart as a function returns would be found without what held it. */
void seep_tick_of_free(struct seep_thread *thread);

/* The last one, as the process ends. */
void seep_tick_final(void);

void seep_tick_after_fork(void);
struct seep_lock *seep_tick_lock(void);

#endif
