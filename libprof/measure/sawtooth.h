/* Levels that rise and fall back again and again. */
#ifndef SEEP_LIBPROF_MEASURE_SAWTOOTH_H
#define SEEP_LIBPROF_MEASURE_SAWTOOTH_H

#include "libprof/measure/growth.h"

/* All zeros where a level never falls back by more than half of its range. */
struct seep_sawtooth {
    unsigned falls;       /* back by more than half of the range */
    unsigned epoch_falls; /* falls where an epoch begins */
    double rise;          /* median growth between falls, bytes per step */
    double top;           /* median bytes reached before a fall */
    double base;          /* median bytes after a fall */
    double height;   /* median bytes that a fall freed: more than top − base, as the level rose
                      * between two points, too */
    unsigned rising; /* steps between falls on which the level rose, of … */
    unsigned steps;  /* … this many on which it changed */
};

/* Looks at the steps after the warm-up. Pure. */
struct seep_sawtooth seep_sawtooth_find(const struct seep_model *m, const struct seep_span *span,
                                        const struct seep_level *level);

#endif
