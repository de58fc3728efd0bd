/* A buffer that makes room for as much again whenever it is full: its level doubles. */
#ifndef SEEP_LIBPROF_MEASURE_DOUBLINGS_H
#define SEEP_LIBPROF_MEASURE_DOUBLINGS_H

#include "libprof/model/live_level.h"

/* The last rises of a level that does not fall in between, each to about twice what it was. */
struct seep_doublings {
    unsigned n;
    int32_t last;     /* step */
    int64_t from, to; /* bytes */
    int64_t blocks;   /* at the last */
};

/* Up to the level's highest. Pure. */
struct seep_doublings seep_doublings_find(const struct seep_level *level);

#endif
