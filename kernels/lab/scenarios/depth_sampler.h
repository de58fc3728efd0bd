/* Which samples a rank takes in an epoch, as torch.utils.data.DistributedSampler with shuffle=True
 * does: one order for all ranks, of which rank r takes every n-th from r on. */
#ifndef SEEP_KERNELS_DEPTH_SAMPLER_H
#define SEEP_KERNELS_DEPTH_SAMPLER_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_depth_sampler {
    size_t n; /* samples */
    unsigned ranks;
    uint64_t seed;
    bool sets_epoch; /* set_epoch() is called before each epoch; without it all have one order */
    uint32_t *order; /* [n] of this epoch */
};

/* 0, -SEEP_ENOMEM. Allocates s->order; seep_depth_sampler_fini() either way. */
SEEP_MUST_CHECK int seep_depth_sampler_init(struct seep_depth_sampler *s, size_t n, unsigned ranks,
                                            uint64_t seed, bool sets_epoch);
void seep_depth_sampler_fini(struct seep_depth_sampler *s);

/* Draws the order of an epoch. */
void seep_depth_sampler_begin(struct seep_depth_sampler *s, unsigned epoch);

/* The k-th sample of a rank; beyond its share it begins again, as the sampler pads. */
static inline uint32_t seep_depth_sampler_take(const struct seep_depth_sampler *s, unsigned rank,
                                               size_t k)
{
    return s->order[(rank + k * s->ranks) % s->n];
}

#endif
