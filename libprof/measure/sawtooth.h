/* Levels that rise and fall back again and again. */
#ifndef SEEP_LIBPROF_MEASURE_SAWTOOTH_H
#define SEEP_LIBPROF_MEASURE_SAWTOOTH_H

#include "libprof/measure/growth.h"

/* All zeros where a level never falls back by more than half of its range. */
struct seep_sawtooth {
    unsigned falls;       /* back by more than half of the range */
    unsigned epoch_falls; /* those of them where an epoch begins */
    double rise;          /* median bytes a step between falls */
    double top;           /* median bytes reached before a fall */
    double base;          /* median bytes after it */
    double height;   /* median of what a fall freed: between two points the level rose on, too */
    unsigned rising; /* steps between falls that rose, of … */
    unsigned steps;  /* … so many with a change */
};

/* Looks at the steps after the warm-up. Pure. */
struct seep_sawtooth seep_sawtooth_find(const struct seep_model *m, const struct seep_span *span,
                                        const struct seep_level *level);

#endif
