/* What a tile's pixels see of one Gaussian: shared by the CPU's way there and way back, which must
 * agree on every pair. Formulas: splat_twins.h. */
#ifndef SEEP_KERNELS_SPLAT_PIXELS_H
#define SEEP_KERNELS_SPLAT_PIXELS_H

#include "kernels/splat/splat.h"
#include "kernels/splat/splat_levels.h"
#include "kernels/splat/splat_math.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Pixels of a row that are worked on together: half a tile's, so that a small Gaussian wastes few.
 * The vectors are GCC's: one register with AVX2, two with SSE2. */
enum { PIXELS = 8, TILE = SEEP_SPLAT_TILE, TILE_PIXELS = TILE * TILE };
typedef float pixels __attribute__((vector_size(4 * PIXELS), may_alias));
typedef int32_t pixel_ints __attribute__((vector_size(4 * PIXELS), may_alias));

#define PIXEL_RAMP ((pixels){0, 1, 2, 3, 4, 5, 6, 7})

/* A macro, and vectors by pointer below: how they are passed by value depends on the instruction
 * set. */
#define CHOOSE(where, a, b) ((pixels)(((where) & (pixel_ints)(a)) | (~(where) & (pixel_ints)(b))))

/* A Gaussian relative to the tile's first pixel centre, and the rows and halves it can reach. */
struct footprint {
    float x, y; /* its mean */
    float a, b, c, opacity;
    float reach; /* of u² + v²: beyond, alpha is under 1/255 */
    float color[3];
    int first_row, end_row, first_half, end_half;
};

/* An upper bound of log2(x), x > 0, above by at most 0.09: the exponent and the mantissa, read
 * linearly. */
SEEP_INLINE float log2_above(float x)
{
    int32_t bits;

    memcpy(&bits, &x, sizeof bits);
    return (float)(bits - (127 << 23)) * (1.0f / (1 << 23)) + 0.0871f;
}

/* Pixels 0 … 15 within mean ± half; half finite. */
SEEP_INLINE void pixel_range(float mean, float half, int *first, int *end)
{
    float from = mean - half, to = mean + half + 1;

    from = from > 0 ? from : 0;
    to = to < TILE ? to : TILE;
    from = from < TILE ? from : TILE;
    to = to > 0 ? to : 0;
    *first = (int)from; /* a pixel too early at most */
    *end = (int)to;
}

SEEP_INLINE struct footprint footprint_of(const struct seep_splat_model *m,
                                          const struct seep_splat_projected *p, uint32_t gaussian,
                                          float left, float top)
{
    const float *root = p->roots[gaussian], *mean = p->means2d[gaussian];
    struct footprint f = {.x = mean[0] - left - 0.5f,
                          .y = mean[1] - top - 0.5f,
                          .a = root[0],
                          .b = root[1],
                          .c = root[2],
                          .opacity = m->opacities[gaussian]};
    int first, end;

    memcpy(f.color, p->colors[gaussian], sizeof f.color);
    f.reach = log2_above(255 * f.opacity);
    float reach = sqrtf(f.reach), slope = f.b / f.c;
    pixel_range(f.x, reach * sqrtf(1 + slope * slope) / f.a, &first, &end);
    f.first_half = first / PIXELS;
    f.end_half = (end + PIXELS - 1) / PIXELS;
    pixel_range(f.y, reach / f.c, &f.first_row, &f.end_row);
    return f;
}

/* 2^−q for q in 0 … 126, anything elsewhere. The polynomial is that of 2^f on |f| <= 1/2. */
SEEP_INLINE void exp2_minus(const pixels *q, pixels *out)
{
    const float magic = 12582912.0f; /* 1.5 · 2^23: a sum with it is rounded to a whole number */
    pixels rounded = magic - *q, f = (magic - rounded) - *q;
    pixels p = f * 1.3333558e-3f + 9.6181291e-3f;

    p = p * f + 5.5504109e-2f;
    p = p * f + 2.4022651e-1f;
    p = p * f + 6.9314718e-1f;
    p = p * f + 1;
    /* The whole number's low bits become the exponent's; those of the constant are shifted out. */
    *out = (pixels)((pixel_ints)p + ((pixel_ints)rounded << 23));
}

/* u and u² + v² at eight pixels of a row: (dx, dy) is from the mean to the first. */
SEEP_INLINE void exponents(const struct footprint *f, float dx, float dy, pixels *u, pixels *q)
{
    float v = f->c * dy;

    *u = f->a * (PIXEL_RAMP + dx) + f->b * dy;
    *q = *u * *u + v * v;
}

/* Whether any of eight is not 0. */
SEEP_INLINE bool any_of(const pixel_ints *where)
{
    typedef int64_t pairs __attribute__((vector_size(4 * PIXELS), may_alias));
    const pairs w = *(const pairs *)where;

    return (w[0] | w[1] | w[2] | w[3]) != 0;
}

#endif
