/* What seep costs a process, measured while it runs. Some of a thread's events, chosen by chance,
 * are timed; their mean stands for all. What takes long and comes rarely (a stack that is new, what
 * is due by the clock, a stop for a look) is timed each time, and left out of that mean.
 *
 * Sums are in the profile's header (struct seep_cost). Each window's largest sum of one thread is
 * what the job feels: threads that run side by side do not wait for each other's costs. */
#ifndef SEEP_PRELOAD_COST_METER_H
#define SEEP_PRELOAD_COST_METER_H

#include "libprof/format/profile_format.h"

/* A thread's; all zero at first. */
struct seep_meter {
    uint32_t counted;   /* `ticks` of the thread when its events were last counted … */
    uint32_t skipped;   /* … and how far the ticks have run ahead of events since */
    bool by_chance;     /* the next event of the kind that may be timed was chosen by chance */
    uint8_t chosen;     /* how many were, modulo SEEP_EVENTS_PER_TIMED */
    uint32_t n_timed;   /* saturating where the mean forgets */
    double mean_ns;     /* of the events that were timed */
    uint64_t apart_ns;  /* spent on what is timed each time */
    uint32_t window;    /* in which … */
    uint64_t window_ns; /* … the thread has spent this */
};

/* One in this many of the events chosen by chance is timed. */
enum { SEEP_EVENTS_PER_TIMED = 4 };

/* An event that may be timed begins; `by_chance`: so will the next one be chosen. Returns the time,
 * 0: this one is not timed. */
uint64_t seep_meter_begin(struct seep_meter *meter, bool by_chance);

/* It has ended, in a thread whose count of ticks is `ticks`: adds what all events since the last
 * one that was timed have cost. */
void seep_meter_end(struct seep_meter *meter, uint64_t began_ns, uint32_t ticks);

/* What has taken so long was timed apart. Not for events that were timed with seep_meter_begin().
 */
void seep_meter_add(struct seep_meter *meter, enum seep_cost_kind kind, uint64_t ns);

/* The window ends: returns what the thread that spent most has spent in it, and begins the next.
 * Threads: one at a time. */
uint64_t seep_meter_window(void);

/* In a forked child, whose sums begin anew. */
void seep_meter_after_fork(void);

#endif
