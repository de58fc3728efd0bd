/* Laps: iterations of a loop around the loop whose iterations are steps.
 *
 * If no loader reports passes, a training that goes over its data repeatedly does so in a loop
 * around that of its steps. At each step it is known which for loops are around it and how far each
 * has come (preload/python/pyframe_loops.h). From most steps to the next only the innermost of
 * these advances, or none does. A lap begins if, instead, a loop further out has advanced, or the
 * innermost has started again at the same place. A step at another place, for example after a
 * warm-up loop, restarts the search and begins no lap. Pure: looks only at its arguments; takes no
 * lock. */
#ifndef SEEP_PRELOAD_STEPS_LAPS_H
#define SEEP_PRELOAD_STEPS_LAPS_H

#include "preload/python/pyframe_loops.h"

/* The for loops around a step, outermost first. */
struct seep_lap_loops {
    unsigned n;
    struct seep_pyloop loops[SEEP_PYLOOPS];
};

/* How two consecutive steps differ: loop i started again (2 i), or advanced (2 i + 1); or no loop
 * changed. */
enum { SEEP_LAP_STILL = 2 * SEEP_PYLOOPS, SEEP_LAP_CHANGES };

/* All zero at first. The caller's lock guards it. */
struct seep_laps {
    bool begun;
    struct seep_lap_loops last;
    uint64_t t_ns; /* of the first step at this place … */
    uint32_t period;
    uint32_t n_changes[SEEP_LAP_CHANGES]; /* since then, by kind of change */
    uint64_t known;                       /* path of a loop that is around them; 0: none yet */
    struct seep_pyloop around;            /* the loop whose iteration is the last lap */
};

/* Reports a step made at `t_ns` in `period`. True: it begins a lap, and is not the first at its
 * place. */
bool seep_laps_stepped(struct seep_laps *laps, const struct seep_lap_loops *loops, uint64_t t_ns,
                       uint32_t period);

/* How many of the last `n` laps of a loop, which is at `around->place` now, no step has shown. */
uint32_t seep_laps_unseen(const struct seep_laps *laps, const struct seep_pyloop *around,
                          uint32_t n);

#endif
