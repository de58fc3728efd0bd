/* A seeded random generator: the same numbers on every machine. SplitMix64 (Steele, Lea and Flood,
 * "Fast splittable pseudorandom number generators", OOPSLA 2014). Allocates nothing. */
#ifndef SEEP_KERNELS_CHANCE_H
#define SEEP_KERNELS_CHANCE_H

#include <math.h>
#include <stddef.h>
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

/* The n-th sequence of a seed: sequences of other n, or of neighbouring seeds, do not overlap
 * it. */
static inline struct seep_chance seep_chance_of(uint64_t seed, uint64_t n)
{
    struct seep_chance c = {seed};

    c.state = seep_chance_next(&c) + n;
    c.state = seep_chance_next(&c);
    return c;
}

/* In (0, 1). */
static inline double seep_chance_uniform(struct seep_chance *c)
{
    return ((double)(seep_chance_next(c) >> 12) + 0.5) * 0x1p-52;
}

static inline double seep_chance_between(struct seep_chance *c, double low, double high)
{
    return low + (high - low) * seep_chance_uniform(c);
}

/* 0 … n − 1. */
static inline size_t seep_chance_below(struct seep_chance *c, size_t n)
{
    return (size_t)((unsigned __int128)seep_chance_next(c) * n >> 64);
}

/* Fills order[n] with 0 … n − 1 in random order (Durstenfeld, 1964). */
static inline void seep_chance_shuffle(struct seep_chance *c, uint32_t *order, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        size_t k = seep_chance_below(c, i + 1);
        order[i] = order[k];
        order[k] = (uint32_t)i;
    }
}

/* Mean 0, deviation 1 (Box and Muller, 1958). */
static inline double seep_chance_normal(struct seep_chance *c)
{
    double radius = sqrt(-2 * log(seep_chance_uniform(c)));

    return radius * cos(6.283185307179586 * seep_chance_uniform(c));
}

#endif
