/* What a tile's pixels see of one Gaussian: shared by the CPU's way there and way back, which must
 * agree on every pair. Formulas: splat_twins.h. */
#ifndef SEEP_KERNELS_SPLAT_PIXELS_H
#define SEEP_KERNELS_SPLAT_PIXELS_H

#include "kernels/compute/cpu_levels.h"
#include "kernels/splat/splat.h"
#include "kernels/splat/splat_math.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* A tile is worked on in blocks of 8 × 4 pixels, a block's rows one vector each: a small Gaussian
 * touches few of them, and which, is found for BATCH Gaussians at once, so that the loop over
 * pixels has no branch that cannot be foreseen. The vectors are GCC's: one register with AVX2, more
 * with SSE2. */
enum { PIXELS = 8, ROWS = 4, BLOCK_PIXELS = ROWS * PIXELS, BATCH = 32 };
enum { TILE = SEEP_SPLAT_TILE, BLOCKS = TILE * TILE / BLOCK_PIXELS };
typedef float pixels __attribute__((vector_size(4 * PIXELS), may_alias));
typedef uint32_t pixel_bits __attribute__((vector_size(4 * PIXELS), may_alias));
typedef int32_t pixel_ints __attribute__((vector_size(4 * PIXELS), may_alias));

#define PIXEL_RAMP ((pixels){0, 1, 2, 3, 4, 5, 6, 7})

/* A macro, and vectors by pointer below: how they are passed by value depends on the instruction
 * set. */
#define CHOOSE(where, a, b) ((pixels)(((where) & (pixel_ints)(a)) | (~(where) & (pixel_ints)(b))))

/* alpha = 2^−(u² + v² + faint); from this exponent on it is under 1/255: log2(255). */
#define SEEN_EXPONENT 7.9943534369f

/* Gaussians of a tile, positions relative to its first pixel's centre.
 *   faint   −log2(opacity)
 *   radius  where they can be seen: sqrt(u² + v²), and half the sides of the box around it */
struct batch {
    int n;
    uint32_t gaussians[BATCH];
    _Alignas(64) float x[BATCH], y[BATCH], a[BATCH], b[BATCH], c[BATCH];
    float opacity[BATCH], faint[BATCH], color[3][BATCH];
    float radius[BATCH], half_x[BATCH], half_y[BATCH];
    _Alignas(64) int32_t touches[BATCH]; /* 1: touches the block at hand */
    uint8_t touching[BATCH];             /* those that do */
};

/* Fills faint[]. With a mantissa m in 1/√2 … √2 and s = (m − 1) / (m + 1), ln m is 2 (s + s³/3 +
 * …).
 */
SEEP_INLINE void batch_faint(struct batch *b)
{
    const int32_t root_half = 0x3f3504f3, mantissa = (1 << 23) - 1;

    for (int i = 0; i < BATCH; i++) {
        int32_t bits;
        float m;
        memcpy(&bits, &b->opacity[i], sizeof bits);
        int32_t above = bits - root_half, m_bits = (above & mantissa) + root_half;
        memcpy(&m, &m_bits, sizeof m);
        float s = (m - 1) / (m + 1), ss = s * s;
        float p = 1 + ss * (1.0f / 3 + ss * (1.0f / 5 + ss * (1.0f / 7 + ss * (1.0f / 9))));
        b->faint[i] = -(float)(above >> 23) - s * p * (float)(2 / SEEP_LN2);
    }
}

/* Fills radius[], half_x[] and half_y[], a little too large. */
SEEP_INLINE void batch_reach(struct batch *b)
{
    for (int i = 0; i < BATCH; i++) {
        float radius = sqrtf(SEEN_EXPONENT + 0.001f - b->faint[i]), slope = b->b[i] / b->c[i];
        b->radius[i] = radius;
        b->half_x[i] = radius * sqrtf(1 + slope * slope) / b->a[i];
        b->half_y[i] = radius / b->c[i];
    }
}

/* Gaussians list[0 … n), n <= BATCH, of the tile whose first pixel is (left, top). */
SEEP_INLINE void batch_load(struct batch *b, const struct seep_splat_projected *p,
                            const uint32_t *list, int n, float left, float top)
{
    b->n = n;
    for (int i = 0; i < n; i++) {
        uint32_t g = list[i];
        b->gaussians[i] = g;
        const struct seep_splat_print *print = &p->prints[g];
        b->x[i] = print->mean[0] - left - 0.5f;
        b->y[i] = print->mean[1] - top - 0.5f;
        b->a[i] = print->roots[0];
        b->b[i] = print->roots[1];
        b->c[i] = print->roots[2];
        b->opacity[i] = print->opacity;
        for (int e = 0; e < 3; e++)
            b->color[e][i] = print->color[e];
    }
    batch_faint(b);
    batch_reach(b);
}

/* Prefetches what batch_load() will read. */
SEEP_INLINE void batch_fetch(const struct seep_splat_projected *p, const uint32_t *list, int n)
{
    for (int i = 0; i < n; i++) { /* of one cache line or of two */
        __builtin_prefetch(&p->prints[list[i]].mean);
        __builtin_prefetch(&p->prints[list[i]].color[2]);
    }
}

SEEP_INLINE int block_left(int block)
{
    return block % (TILE / PIXELS) * PIXELS;
}

SEEP_INLINE int block_top(int block)
{
    return block / (TILE / PIXELS) * ROWS;
}

/* Fills touches[]: none of a Gaussian's |dx|, |dy| and |u| may be too large all over the block. */
SEEP_INLINE void batch_touch(struct batch *b, int block)
{
    const float half_x = (PIXELS - 1) / 2.0f, half_y = (ROWS - 1) / 2.0f;
    float x = (float)block_left(block) + half_x, y = (float)block_top(block) + half_y;

    for (int i = 0; i < BATCH; i++) {
        float dx = x - b->x[i], dy = y - b->y[i], u = b->a[i] * dx + b->b[i] * dy;
        b->touches[i] = (fabsf(dx) <= b->half_x[i] + half_x) &
                        (fabsf(dy) <= b->half_y[i] + half_y) &
                        (fabsf(u) <= b->radius[i] + b->a[i] * half_x + fabsf(b->b[i]) * half_y);
    }
}

/* Fills touching[] with those that touch the block; how many. */
SEEP_INLINE int batch_touching(struct batch *b, int block)
{
    int n = 0;

    batch_touch(b, block);
    for (int i = 0; i < b->n; i++) {
        b->touching[n] = (uint8_t)i;
        n += b->touches[i];
    }
    return n;
}

/* A product that no sum is fused with. */
#if __has_builtin(__builtin_assoc_barrier)
#define ROUNDED(product) __builtin_assoc_barrier(product)
#elif __has_builtin(__arithmetic_fence)
#define ROUNDED(product) __arithmetic_fence(product)
#else
#define ROUNDED(product) (product)
#endif

/* u and the exponent u² + v² + faint of a row of pixels, whose dx times a is `adx`. Here alone, and
 * with no choice of what is fused: the way there and the way back decide by it whether a pair is
 * blended. */
SEEP_INLINE void row_exponent(const struct batch *b, int i, const pixels *adx, float dy, pixels *u,
                              pixels *q)
{
    float v = b->c[i] * dy;

    *u = ROUNDED(*adx) + b->b[i] * dy;
    *q = *u * *u + (v * v + b->faint[i]);
}

/* 2^f on |f| <= 1/2, the largest relative error made least: 2.6e-6, where alpha is wanted to 1e-4.
 */
#define EXP2_0 9.99999285e-1f
#define EXP2_1 6.93121791e-1f
#define EXP2_2 2.40247443e-1f
#define EXP2_3 5.59178591e-2f
#define EXP2_4 9.57010221e-3f

/* 2^−q for q in 0 … 126, anything elsewhere. */
SEEP_INLINE void exp2_minus(const pixels *q, pixels *out)
{
    const float magic = 12582912.0f; /* 1.5 · 2^23: a sum with it is rounded to a whole number */
    pixels rounded = magic - *q, f = (magic - rounded) - *q;
    pixels p = f * EXP2_4 + EXP2_3;

    p = p * f + EXP2_2;
    p = p * f + EXP2_1;
    p = p * f + EXP2_0;
    /* The whole number's low bits become the exponent's; those of the constant are shifted out. */
    *out = (pixels)((pixel_bits)p + ((pixel_bits)rounded << 23));
}

#endif
