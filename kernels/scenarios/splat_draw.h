/* Random numbers that a seed repeats on any machine. */
#ifndef SEEP_KERNELS_SPLAT_DRAW_H
#define SEEP_KERNELS_SPLAT_DRAW_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

/* Knuth's generator of MMIX; its high half, the low bits are poor. */
static inline uint32_t seep_draw(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)(*state >> 32);
}

/* 0 … n − 1, n < 2^32. */
static inline size_t seep_draw_below(uint64_t *state, size_t n)
{
    return (size_t)(((uint64_t)seep_draw(state) * (uint64_t)n) >> 32);
}

/* low ≤ x < high. */
static inline double seep_draw_between(uint64_t *state, double low, double high)
{
    return low + (high - low) * (seep_draw(state) * 0x1p-32);
}

/* Mean 0, deviation 1 (Box and Muller, 1958). */
static inline double seep_draw_normal(uint64_t *state)
{
    double radius = sqrt(-2 * log((seep_draw(state) + 1.0) * 0x1p-32));

    return radius * cos(seep_draw_between(state, 0, 6.283185307179586));
}

#endif
