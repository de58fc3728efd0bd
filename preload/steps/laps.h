/* Laps: iterations of a loop around the one whose iterations are steps.
 *
 * Where no loader tells of passes, a training that goes over its data again and again does so in a
 * loop around that of its steps. At each step the for loops around it are known, with how far each
 * has come (preload/python/pyframe_loops.h). At most steps only the innermost that counts has gone
 * on, or none that can be seen; where one further out has, or that one began anew at the same
 * place, a lap begins. A step at another place, behind a loop that warms up, begins it all anew,
 * and is none. Pure: it sees what it is shown, and keeps no lock. */
#ifndef SEEP_PRELOAD_STEPS_LAPS_H
#define SEEP_PRELOAD_STEPS_LAPS_H

#include "preload/python/pyframe_loops.h"

/* At a step, the for loops around it, outermost first. */
struct seep_lap_loops {
    unsigned n;
    struct seep_pyloop loops[SEEP_PYLOOPS];
};

/* How two steps that follow each other differ: loop i began anew (2 i), or went on (2 i + 1); or no
 * loop changed. */
enum { SEEP_LAP_STILL = 2 * SEEP_PYLOOPS, SEEP_LAP_CHANGES };

/* All zero at first. The caller's lock guards it. */
struct seep_laps {
    bool begun;
    struct seep_lap_loops last;
    uint64_t t_ns; /* of the first step at this place, … */
    uint32_t period;
    uint32_t n_changes[SEEP_LAP_CHANGES]; /* since then */
    struct seep_pyloop around;            /* the loop whose iteration the last lap is */
};

/* A step, which is made at `t_ns` in `period`. True: a lap begins with it, and it is not the first
 * at its place. */
bool seep_laps_stepped(struct seep_laps *laps, const struct seep_lap_loops *loops, uint64_t t_ns,
                       uint32_t period);

#endif
