/* Which blocks are recorded where not all are: Poisson sampling by bytes. A walk over all blocks of
 * a thread takes one at gaps whose mean is given, so that a block of s bytes is taken with the
 * probability p = 1 − e^(−(s + 1)/gap), and then counts as 1/p blocks: all sums are right on
 * average, whatever the gap is and whenever it changes. No state but the walk's. Runtime part. */
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

/* Whether the next block is taken. `gap_bytes` is not 0. */
bool seep_sampler_takes(struct seep_sampler *sampler, uint64_t bytes, uint64_t gap_bytes);

/* For how many blocks one that was taken counts: 1/p, rounded up or down by its address, so that
 * the mean is right and its free finds the same number. At least 1; 1 if it was certain. */
uint64_t seep_sample_weight(uintptr_t block, uint64_t bytes, uint64_t gap_bytes);

#endif
