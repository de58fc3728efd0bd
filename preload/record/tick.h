/* The tick does what is due by the clock: time slices, the timeline of the process, its RSS. */
#ifndef SEEP_PRELOAD_RECORD_TICK_H
#define SEEP_PRELOAD_RECORD_TICK_H

#include "preload/cost/overhead.h"
#include "preload/record/thread.h"

enum {
    SEEP_EVENTS_PER_TICK = 64,
    SEEP_BYTES_PER_TICK =
        256 * 1024,              /* of one block: a job that makes few events makes large ones */
    SEEP_EVENTS_AFTER_FREE = 15, /* so soon after a free (odd: not at the next one of a loop), … */
    SEEP_EVENTS_BY_CHANCE = 16,  /* … and after other events sooner by fewer than this */
};

/* What seep may cost this process. Its bounds are set once, at the program's start; the tick, which
 * compares them with what seep has cost, changes the rest, and how coarsely blocks are recorded. */
extern struct seep_overhead seep_overhead;

/* Looks at the (coarse) clock and does what is due. Called every so many events, inside the guard.
 */
void seep_tick(struct seep_thread *thread);

/* Makes a copy of the process if one is due, at the next event if a block is being moved. */
void seep_tick_look(struct seep_thread *thread);

/* The same without a copy of the process: while a block is being freed, memory that is released as
 * a function returns would be found without its holder; and before a large one is made, a job with
 * few events would be met at the same point of it each time. */
void seep_tick_without_look(struct seep_thread *thread);

/* Only lets time slices pass: what else is due looks at memory, and while a large block is being
 * freed, its pages are nobody's. */
void seep_tick_slices(void);

/* The last tick, as the process ends. */
void seep_tick_final(void);

void seep_tick_after_fork(void);
struct seep_lock *seep_tick_lock(void);

#endif
