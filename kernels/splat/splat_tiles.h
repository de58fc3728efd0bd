/* The tiles of a Gaussian by the rules beside BOX, in one place for both twins. A tile that is
 * counted (projection) must be listed (binning) and found again (backward): so the numbers of
 * REACHED must come out the same, to the bit, wherever they are worked out on a device, and no
 * product is fused with a sum here.
 *
 * REACHED goes by rows of tiles, as AccuTile does (Hanson et al., Speedy-Splat, CVPR 2025): an
 * ellipse is convex, so of a row it reaches a range of tiles, between the leftmost and the
 * rightmost point that it has within the row's pixel centres. That is the least u² + v² of each
 * tile's rectangle held against log2(255 opacity), without going over the tiles. */
#ifndef SEEP_KERNELS_SPLAT_TILES_H
#define SEEP_KERNELS_SPLAT_TILES_H

#include "kernels/splat/splat.h"
#include "kernels/splat/splat_math.h"

#ifdef __cplusplus
#include <cuda_runtime.h>
#define SPLAT_TILES static __host__ __device__ __forceinline__
#else
#include <math.h>
#include <stdbool.h>
#define SPLAT_TILES static inline
#endif

#ifdef __CUDA_ARCH__
#define SPLAT_TIMES(a, b) __fmul_rn(a, b)
#define SPLAT_PLUS(a, b)  __fadd_rn(a, b)
#else
#define SPLAT_TIMES(a, b) ((a) * (b))
#define SPLAT_PLUS(a, b)  ((a) + (b))
#endif

/* The ellipse u² + v² = most around a Gaussian's mean. NaN in any of it makes rows whole. */
struct splat_ellipse {
    float x, y;          /* the mean */
    float slope, half_x; /* at height dy it spans slope · dy ± half_x · sqrt(most − c² dy²) */
    float c, most;
    float half_y;      /* its height above the mean */
    float turn;        /* the dy of its rightmost point; of the leftmost: −turn */
    float x_apart;     /* how far off, at most, rounding puts what the renderer draws: */
    float y_apart;     /* pixels, here and in what it compares */
    int width, height; /* of the picture */
};

/* `most` and the margins err on the side of more, by what alpha's rounding may be. */
SPLAT_TILES struct splat_ellipse splat_ellipse_of(const float mean[2], const float roots[3],
                                                  float opacity,
                                                  const struct seep_splat_camera *camera)
{
    float a = roots[0], b = roots[1], c = roots[2];
    float exponent = SPLAT_PLUS(log2f(opacity), 7.9943534369f + 0.01f); /* log2(255) */
    struct splat_ellipse e;

    e.x = mean[0];
    e.y = mean[1];
    e.c = c;
    e.width = camera->width;
    e.height = camera->height;
    e.most = SPLAT_TIMES(exponent, 1 + 1e-5f);
    float radius = sqrtf(e.most);
    float bb_cc = SPLAT_PLUS(SPLAT_TIMES(b, b), SPLAT_TIMES(c, c));
    e.slope = -b / a;
    e.half_x = 1 / a;
    e.half_y = radius / c;
    e.turn = SPLAT_TIMES(e.half_y, -b / sqrtf(bb_cc));
    e.y_apart = SPLAT_PLUS(1e-3f, SPLAT_TIMES(1e-6f, fabsf(e.y)));
    float span = SPLAT_PLUS(fabsf(e.y), e.half_y);
    e.x_apart = SPLAT_PLUS(
        1e-3f, SPLAT_TIMES(1e-6f, SPLAT_PLUS(fabsf(e.x), SPLAT_TIMES(fabsf(e.slope), span))));
    return e;
}

/* How far it spans to the right (side 1) or to the left (−1) of slope · dy, at its widest for dy in
 * low … high. */
SPLAT_TILES float splat_ellipse_side(const struct splat_ellipse *e, float low, float high,
                                     float side)
{
    float dy = fminf(fmaxf(SPLAT_TIMES(side, e->turn), low), high), v = SPLAT_TIMES(e->c, dy);
    float width = sqrtf(fmaxf(SPLAT_PLUS(e->most, -SPLAT_TIMES(v, v)), 0));

    return SPLAT_PLUS(SPLAT_TIMES(e->slope, dy),
                      SPLAT_TIMES(side, SPLAT_PLUS(SPLAT_TIMES(e->half_x, width), e->x_apart)));
}

/* The tiles of one row, `row` of tiles[1] … tiles[3] − 1, that the ellipse reaches: *first … *end,
 * within tiles[0] … tiles[2], the box's. None: both are equal. */
SPLAT_TILES void splat_row_reached(const struct splat_ellipse *e, const uint16_t tiles[4],
                                   unsigned row, unsigned *first, unsigned *end)
{
    int top = (int)row * SEEP_SPLAT_TILE, bottom = top + SEEP_SPLAT_TILE;
    int side = tiles[2] * SEEP_SPLAT_TILE;
    float last = (float)(bottom < e->height ? bottom : e->height) - 0.5f;
    float low = fmaxf(SPLAT_PLUS((float)top + 0.5f, -SPLAT_PLUS(e->y, e->y_apart)), -e->half_y);
    float high = fminf(SPLAT_PLUS(last, -SPLAT_PLUS(e->y, -e->y_apart)), e->half_y);

    *first = *end = tiles[0];
    if (low > high)
        return;
    float left = SPLAT_PLUS(e->x, splat_ellipse_side(e, low, high, -1));
    float right = SPLAT_PLUS(e->x, splat_ellipse_side(e, low, high, 1));
    float from = fmaxf(ceilf(SPLAT_PLUS(left, -0.5f)), (float)(tiles[0] * SEEP_SPLAT_TILE));
    float to =
        fminf(floorf(SPLAT_PLUS(right, -0.5f)), (float)((side < e->width ? side : e->width) - 1));
    if (!(from <= to))
        return;
    *first = (unsigned)from / SEEP_SPLAT_TILE;
    *end = (unsigned)to / SEEP_SPLAT_TILE + 1;
}

/* How many of the box's tiles it reaches. */
SPLAT_TILES unsigned splat_count_reached(const struct splat_ellipse *e, const uint16_t tiles[4])
{
    unsigned n = 0, first, end;

    for (unsigned row = tiles[1]; row < tiles[3]; row++) {
        splat_row_reached(e, tiles, row, &first, &end);
        n += end - first;
    }
    return n;
}

/* Tiles of the square along one axis: from pixel centre to pixel centre, as 3DGS counts them. */
SPLAT_TILES bool splat_square_side(float mean, float half, int size, uint16_t *first, uint16_t *end)
{
    const float tile = SEEP_SPLAT_TILE;
    float most = (float)((size + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE), centre = mean - 0.5f;
    float from = fminf(fmaxf(floorf((centre - half) / tile), 0), most);
    float to = fminf(fmaxf(floorf((centre + half + (tile - 1)) / tile), 0), most);

    *first = (uint16_t)from;
    *end = (uint16_t)to;
    return from < to;
}

/* SQUARE: false if it has no tile. a, b, c: the covariance in the picture. */
SPLAT_TILES bool splat_square(const float mean[2], float a, float b, float c, int width, int height,
                              uint16_t tiles[4])
{
    float half_difference = 0.5f * (a - c);
    float discriminant = fmaxf(half_difference * half_difference + b * b, 0.1f);
    float half = ceilf(SEEP_SPLAT_SIGMAS * sqrtf(0.5f * (a + c) + sqrtf(discriminant)));

    return splat_square_side(mean[0], half, width, &tiles[0], &tiles[2]) &&
           splat_square_side(mean[1], half, height, &tiles[1], &tiles[3]);
}

#endif
