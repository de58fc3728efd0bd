/* A batch of Gaussians laid over a tile's blocks, a row's pixels side by side. Included by
 * splat_render_cpu.c. */
#ifndef SEEP_KERNELS_SPLAT_BLEND_H
#define SEEP_KERNELS_SPLAT_BLEND_H

#include "kernels/splat/splat_pixels.h"

/* A negative transmittance is that of a pixel that has stopped. */
struct block {
    _Alignas(64) float through[BLOCK_PIXELS];
    _Alignas(64) float color[3][BLOCK_PIXELS];
    _Alignas(64) int32_t last[BLOCK_PIXELS];
    bool open; /* some pixel has not stopped */
};

/* The block's pixels under Gaussian i of the batch; `end`: one past its index in the list. */
SEEP_INLINE void blend(struct block *t, int block, const struct batch *b, int i, int32_t end)
{
    int top = block_top(block), left = block_left(block);
    float opacity = b->opacity[i];
    const pixels adx = b->a[i] * (PIXEL_RAMP + (float)left - b->x[i]);

    for (int row = 0; row < ROWS; row++) {
        float dy = (float)(row + top) - b->y[i];
        pixels *through = (pixels *)(t->through + row * PIXELS);
        pixel_ints *last = (pixel_ints *)(t->last + row * PIXELS);
        pixels before = *through, u, q, alpha;
        row_exponent(b, i, &adx, dy, &u, &q);
        exp2_minus(&q, &alpha);
        if (opacity >= SEEP_SPLAT_MAX_ALPHA)
            alpha = CHOOSE(alpha < SEEP_SPLAT_MAX_ALPHA, alpha, (pixels){0} + SEEP_SPLAT_MAX_ALPHA);
        pixels after = before - before * alpha;
        pixel_ints drawn = q <= SEEN_EXPONENT;
        pixel_ints blends = drawn & (after >= SEEP_SPLAT_MIN_TRANSMITTANCE);
        pixels weight = (pixels)(blends & (pixel_ints)(alpha * before));
        /* Drawn but not blended: it stops here, or has stopped. */
        pixels kept = (pixels)((pixel_ints)before | (drawn & INT32_MIN));
        for (int e = 0; e < 3; e++)
            *(pixels *)(t->color[e] + row * PIXELS) += weight * b->color[e][i];
        *through = CHOOSE(blends, after, kept);
        *last = (blends & end) | (~blends & *last);
    }
}

/* Whether a block is still open. */
SEEP_INLINE bool blend_batch(struct block blocks[BLOCKS], struct batch *b, int32_t first)
{
    bool open = false;

    for (int block = 0; block < BLOCKS; block++) {
        struct block *t = &blocks[block];
        if (!t->open)
            continue;
        int n = batch_touching(b, block);
        for (int k = 0; k < n; k++)
            blend(t, block, b, b->touching[k], first + b->touching[k] + 1);
        float most = -1;
        for (int i = 0; i < BLOCK_PIXELS; i++)
            most = t->through[i] > most ? t->through[i] : most;
        t->open = most > 0;
        open |= t->open;
    }
    return open;
}

#endif
