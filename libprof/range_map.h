/* The live set of maps: which address ranges a job has mapped, cut and joined as munmap, mremap and
 * MAP_FIXED cut them. A sorted array under one lock: maps are few and their system calls dear.
 * Private memory; runtime part. Threads: any. */
#ifndef SEEP_LIBPROF_RANGE_MAP_H
#define SEEP_LIBPROF_RANGE_MAP_H

#include "libprof/os.h"

struct seep_range {
    uintptr_t start, end;
    uint32_t site;   /* index, as in the live map */
    uint32_t birth;  /* period */
    uint32_t origin; /* the mmap call that it is a piece of */
    uint32_t last;   /* set on what seep_range_take() gives: no piece of its origin is left */
};

/* Enters a map that has just been made; `origin` 0 starts a new one. What it overlaps must have
 * been taken. False: no memory for it. */
bool seep_range_put(const struct seep_range *range);

/* Removes what of [start, end) is mapped; partly covered ranges are cut. Stores up to `capacity`
 * removed pieces and returns how many; further ones stay in. */
unsigned seep_range_take(uintptr_t start, uintptr_t end, struct seep_range *pieces,
                         unsigned capacity);

void seep_range_after_fork(void);
struct seep_lock *seep_range_lock(void);

#endif
