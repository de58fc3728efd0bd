/* Which blocks are recorded where not all are: Poisson sampling by bytes. A walk over all blocks of
 * a thread takes one at gaps whose mean is given, so that a block of s bytes is taken with the
 * probability p = 1 − e^(−(s + 1)/gap), and then counts as 1/p blocks: all sums are right on
 * average, whatever the gap is and whenever it changes. */
#ifndef SEEP_LIBPROF_STORE_SAMPLING_H
#define SEEP_LIBPROF_STORE_SAMPLING_H

#include <stdbool.h>
#include <stdint.h>

/* Above this many mean gaps a block is taken anyway (with p > 99 %), so it counts as itself:
 * whoever samples leaves these out. */
enum { SEEP_SAMPLE_CERTAIN = 5 };

/* A thread's walk. `random` is not 0; the rest is 0 at first. */
struct seep_sampler {
    uint64_t random;
    uint64_t gap_bytes; /* of `until` */
    int64_t until;      /* bytes to the next block that is taken; 0: not drawn yet */
};

uint64_t seep_sampler_random(struct seep_sampler *sampler);

/* Slow path of the next. */
bool seep_sampler_arrives(struct seep_sampler *sampler, uint64_t bytes, uint64_t gap_bytes);

/* Whether the next block is taken. `gap_bytes` is not 0. */
static inline bool seep_sampler_takes(struct seep_sampler *sampler, uint64_t bytes,
                                      uint64_t gap_bytes)
{
    const int64_t left = sampler->until - (int64_t)bytes - 1; /* an empty block is an object too */
    if (__builtin_expect(left <= 0 || sampler->gap_bytes != gap_bytes, 0))
        return seep_sampler_arrives(sampler, bytes, gap_bytes);
    sampler->until = left;
    return false;
}

/* For how many blocks one that was taken counts: 1/p, rounded up or down by its address, so that
 * the mean is right and its free finds the same number. At least 1; 1 if it was certain. */
uint64_t seep_sample_weight(uintptr_t block, uint64_t bytes, uint64_t gap_bytes);

/* Which blocks are recorded. All but the coarseness is set once, at the program's start. */
struct seep_sampling {
    uint32_t coarseness; /* 0: all of them */
    bool has_begun;      /* it has been another, here or in the process that this was forked from */
    uint64_t gap_bytes;  /* the mean gap at coarseness 1, as in the profile's header; 0: none */
    uint64_t exact_bytes; /* blocks from this size on are always recorded */
};

extern struct seep_sampling seep_sampling;

/* Changes the coarseness from now on, and notes it in the profile. Blocks that were recorded before
 * keep theirs. Threads: one at a time. */
void seep_sampling_set(unsigned coarseness);

#endif
