/* What seep may cost a process, and how coarsely it records to keep to that. The budget is a share
 * of time: of the first minute at once, later as time passes, and what is not spent is kept for up
 * to a minute's worth. Small blocks are sampled once what recording costs would not last; not while
 * a job imports its libraries, whose stacks are all new. They are sampled less, or not at all, once
 * even that would fit. And they are sampled the more, the more of the memory is taken that seep may
 * have. Readers of copies must fit into what is left of it then.
 * Numbers only: nothing here looks at the process or the clock. Threads: one at a time. */
#ifndef SEEP_PRELOAD_COST_OVERHEAD_H
#define SEEP_PRELOAD_COST_OVERHEAD_H

#include <stdbool.h>
#include <stdint.h>

struct seep_overhead {
    double share;          /* of time; 0: no bound */
    uint64_t memory_bytes; /* that seep itself may take; 0: no bound */
    unsigned least, most;  /* coarseness */
    /* All zero at first from here on. */
    bool begun;
    uint64_t own_bytes;  /* of seep inside the process, when last measured */
    double left_ns;      /* may be negative */
    double owed_ns;      /* by looks that took more than was left */
    double seen_ns;      /* time at this coarseness, the older part forgotten, … */
    double recording_ns; /* … and what recording has cost in it */
    double calm_ns;      /* time at this coarseness, … */
    double patience_ns;  /* … and how long it has to be before a finer one is tried */
    bool tried;          /* this coarseness is such a trial */
};

/* Some time that has passed. */
struct seep_overhead_window {
    uint64_t age_ns; /* of the process at its end */
    uint64_t ns;
    uint64_t spent_ns; /* by the thread that spent most, … */
    uint64_t stops_ns; /* … and what of it were stops for looks, which no sampling makes shorter */
    uint64_t memory_bytes; /* of seep itself, when last measured; 0: unknown */
    bool importing;
};

/* Returns how coarsely to record from now on. */
unsigned seep_overhead_judge(struct seep_overhead *overhead,
                             const struct seep_overhead_window *window, unsigned coarseness);

/* What a look may cost: half of what is left, because the rest is for recording. */
uint64_t seep_overhead_room_ns(const struct seep_overhead *overhead);

/* The memory that is left to a look's reader: 1 or more, or 0 if there is no bound. */
uint64_t seep_overhead_room_bytes(const struct seep_overhead *overhead);

#endif
