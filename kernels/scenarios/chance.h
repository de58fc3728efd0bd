/* Seeded chance: the same numbers on every machine. SplitMix64 (Steele, Lea and Flood, "Fast
 * splittable pseudorandom number generators", OOPSLA 2014). Allocates nothing. */
#ifndef SEEP_KERNELS_CHANCE_H
#define SEEP_KERNELS_CHANCE_H

#include <math.h>
#include <stdint.h>

struct seep_chance {
    uint64_t state; /* any seed */
};

static inline uint64_t seep_chance_next(struct seep_chance *c)
{
    uint64_t z = c->state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* In (0, 1). */
static inline double seep_chance_uniform(struct seep_chance *c)
{
    return ((double)(seep_chance_next(c) >> 11) + 0.5) * 0x1p-53;
}

/* Mean 0, deviation 1 (Box and Muller, 1958). */
static inline double seep_chance_normal(struct seep_chance *c)
{
    double radius = sqrt(-2 * log(seep_chance_uniform(c)));

    return radius * cos(6.283185307179586 * seep_chance_uniform(c));
}

#endif
