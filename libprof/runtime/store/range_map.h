/* The live set of maps: the address ranges that a job has mapped, split and joined as munmap,
 * mremap and MAP_FIXED do. A directory of small sorted arrays under one lock: with 100,000 ranges a
 * change moves at most a few hundred. Private memory; runtime part. Threads: any. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_RANGE_MAP_H
#define SEEP_LIBPROF_RUNTIME_STORE_RANGE_MAP_H

#include "libprof/runtime/store/os.h"

/* How much of a range is memory, and so is counted. */
enum seep_range_state {
    SEEP_RANGE_COMMITTED, /* all of it */
    SEEP_RANGE_BY_TOUCH,  /* its resident part, as far as known */
    SEEP_RANGE_RESERVED,  /* nothing: address space */
    SEEP_RANGE_STATES,
};

/* Sets of states. */
enum {
    SEEP_RANGES_OF_MEMORY = 1 << SEEP_RANGE_COMMITTED | 1 << SEEP_RANGE_BY_TOUCH,
    SEEP_RANGES_ALL = (1 << SEEP_RANGE_STATES) - 1,
};

struct seep_range {
    uintptr_t start, end;
    uint64_t counted; /* bytes counted of it, at most its size */
    uint32_t site;    /* index, as in the live map; 0 if only reserved */
    uint32_t birth;   /* period */
    uint32_t origin;  /* the call that it is a piece of */
    uint8_t state;    /* enum seep_range_state */
    uint8_t space;
    bool last; /* set by seep_range_take(): no piece of its origin is left */
};

/* Adds a map that was just made, or puts back what was taken; `origin` 0 starts a new one. Ranges
 * that it overlaps must have been taken. Sets `counted` of a committed range. False: no memory for
 * it. */
bool seep_range_put(const struct seep_range *range);

/* Removes what is mapped in [start, end) in one of `states`; splits partly covered ranges, and
 * gives a piece of one that counts by touch its share. Stores up to `capacity` removed pieces, by
 * address, and returns how many; further ones stay in. */
unsigned seep_range_take(uintptr_t start, uintptr_t end, unsigned states, struct seep_range *pieces,
                         unsigned capacity);

/* The job has given back the pages of [*start, end), but not the addresses: ranges of memory in
 * `space`, or with `but_space` in any other, count by touch from now on, unsplit. Stores up to
 * `capacity` of them, with what each has lost as `counted`, and returns how many; *start is where
 * to continue. */
unsigned seep_range_release(uintptr_t *start, uintptr_t end, unsigned space, bool but_space,
                            struct seep_range *pieces, unsigned capacity);

/* The first range in one of `states` that ends after `address`. */
bool seep_range_find(uintptr_t address, unsigned states, struct seep_range *found);

/* Corrects the count of a range found by seep_range_find() that counts by touch, and gives it to
 * `site`. `*old` is the previous count. False: the range has changed. */
bool seep_range_correct(const struct seep_range *range, uint32_t site, uint64_t counted,
                        uint64_t *old);

/* Bytes of [start, end) that are mapped and in one of `states`. */
uint64_t seep_range_overlap(uintptr_t start, uintptr_t end, unsigned states);

/* The part [start, end) of a range, with its share of the count. */
struct seep_range seep_range_part(const struct seep_range *range, uintptr_t start, uintptr_t end);

/* The number of ranges in a state. Without the lock. */
uint32_t seep_range_n(enum seep_range_state state);

void seep_range_after_fork(void);
struct seep_lock *seep_range_lock(void);

#endif
