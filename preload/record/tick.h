/* The tick does what is due by the clock: time slices, the timeline of the process, its RSS. */
#ifndef SEEP_PRELOAD_RECORD_TICK_H
#define SEEP_PRELOAD_RECORD_TICK_H

#include "preload/record/thread.h"

enum {
    SEEP_EVENTS_PER_TICK = 64,
    SEEP_EVENTS_AFTER_FREE = 15, /* odd, so that a job with a rhythm of its own does not have a free
                                  * at every tick */
};

/* Looks at the (coarse) clock and does what is due. Called every so many events, inside the guard.
 */
void seep_tick(struct seep_thread *thread);

/* The same while a block is being freed. Then no copy of the process is made: memory that is being
 * released as a function returns would be found without its holder. */
void seep_tick_of_free(struct seep_thread *thread);

/* The last tick, as the process ends. */
void seep_tick_final(void);

void seep_tick_after_fork(void);
struct seep_lock *seep_tick_lock(void);

#endif
