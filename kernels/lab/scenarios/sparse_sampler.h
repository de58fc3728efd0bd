/* Which scenes a rank sees, and in which order: PyTorch's DistributedSampler, which is a plain
 * RandomSampler or SequentialSampler where there is one rank. */
#ifndef SEEP_KERNELS_SPARSE_SAMPLER_H
#define SEEP_KERNELS_SPARSE_SAMPLER_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_sparse_sampler {
    uint32_t first; /* of the data set's scenes: those from here on … */
    size_t n;       /* … so many */
    bool shuffles;  /* anew in each epoch, alike in all ranks */
    uint64_t seed;
    unsigned rank, ranks;
};

/* How many a rank gets in an epoch: as many as the others, so that some come twice. */
size_t seep_sparse_sampler_share(const struct seep_sparse_sampler *sampler);

/* Fills ids[share]. 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_sparse_sampler_fill(const struct seep_sparse_sampler *sampler,
                                             uint64_t epoch, uint32_t *ids);

#endif
