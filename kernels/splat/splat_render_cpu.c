/* The picture, tile by tile: threads take tiles from a counter, a row's pixels are blended side by
 * side. */
#pragma GCC optimize("fp-contract=fast")

#include "kernels/splat/splat_pixels.h"
#include "kernels/splat/splat_twins.h"

#include <stdatomic.h>

struct render {
    const struct seep_splat_camera *camera;
    const struct seep_splat_model *model;
    const struct seep_splat_projected *projected;
    const struct seep_splat_bins *bins;
    struct seep_splat_picture *out;
    size_t tiles_x, n_tiles;
    atomic_size_t next;
    enum seep_cpu_level level;
};

/* Eight by eight pixels. A negative transmittance is that of a pixel that has stopped. */
struct block {
    _Alignas(32) float through[BLOCK_PIXELS];
    _Alignas(32) float color[3][BLOCK_PIXELS];
    _Alignas(32) int32_t last[BLOCK_PIXELS];
    bool open; /* some pixel has not stopped */
};

/* The block's pixels under Gaussian i of the batch; `end`: its index in the tile's list, and one.
 */
SEEP_INLINE void blend(struct block *t, int block, const struct batch *b, int i, int32_t end)
{
    int top = block / 2 * PIXELS, left = block % 2 * PIXELS;
    int first = b->first_row[i] > top ? b->first_row[i] - top : 0;
    int last_row = b->end_row[i] < top + PIXELS ? b->end_row[i] - top : PIXELS;
    float opacity = b->opacity[i], reach = b->reach[i], c = b->c[i], bb = b->b[i];
    const pixels adx = b->a[i] * (PIXEL_RAMP + ((float)left - b->x[i]));

    for (int row = first; row < last_row; row++) {
        float dy = (float)(row + top) - b->y[i], v = c * dy;
        pixels *through = (pixels *)(t->through + row * PIXELS);
        pixel_ints *last = (pixel_ints *)(t->last + row * PIXELS);
        pixels before = *through, u = adx + bb * dy, q = u * u + v * v, alpha;
        exp2_minus(&q, &alpha);
        alpha *= opacity;
        if (opacity >= SEEP_SPLAT_MAX_ALPHA)
            alpha = CHOOSE(alpha < SEEP_SPLAT_MAX_ALPHA, alpha, (pixels){0} + SEEP_SPLAT_MAX_ALPHA);
        pixels after = before - before * alpha;
        pixel_ints drawn = (q <= reach) & (alpha >= SEEP_SPLAT_MIN_ALPHA);
        pixel_ints blends = drawn & (after >= SEEP_SPLAT_MIN_TRANSMITTANCE);
        pixels weight = (pixels)(blends & (pixel_ints)(alpha * before));
        /* Drawn but not blended: stops, or has stopped. */
        pixels kept = (pixels)((pixel_ints)before | (drawn & INT32_MIN));
        for (int e = 0; e < 3; e++)
            *(pixels *)(t->color[e] + row * PIXELS) += weight * b->color[e][i];
        *through = CHOOSE(blends, after, kept);
        *last = (blends & end) | (~blends & *last);
    }
}

SEEP_INLINE void blend_batch(struct block blocks[BLOCKS], struct batch *b, int32_t first)
{
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
    }
}

SEEP_INLINE void clear_block(struct block *t, int width, int height)
{
    memset(t, 0, sizeof *t);
    t->open = width > 0 && height > 0;
    for (int i = 0; i < BLOCK_PIXELS; i++)
        t->through[i] = i % PIXELS < width && i / PIXELS < height ? 1 : -1;
}

SEEP_INLINE void store_block(const struct render *r, int left, int top, const struct block *t)
{
    int width = r->camera->width, height = r->camera->height;

    for (int y = top; y < top + PIXELS && y < height; y++)
        for (int x = left; x < left + PIXELS && x < width; x++) {
            int i = (y - top) * PIXELS + x - left;
            size_t pixel = (size_t)y * (size_t)width + (size_t)x;
            float through = fabsf(t->through[i]);
            for (int e = 0; e < 3; e++)
                r->out->image[3 * pixel + (size_t)e] =
                    t->color[e][i] + through * r->camera->background[e];
            r->out->transmittance[pixel] = through;
            r->out->last[pixel] = (uint32_t)t->last[i];
        }
}

SEEP_INLINE void render_tile(const struct render *r, size_t tile)
{
    const uint32_t *list = r->bins->gaussians + r->bins->tile_start[tile];
    int32_t n = (int32_t)(r->bins->tile_start[tile + 1] - r->bins->tile_start[tile]);
    int left = (int)(tile % r->tiles_x) * TILE, top = (int)(tile / r->tiles_x) * TILE;
    struct block blocks[BLOCKS];
    struct batch batch = {0};

    for (int k = 0; k < BLOCKS; k++)
        clear_block(&blocks[k], r->camera->width - left - k % 2 * PIXELS,
                    r->camera->height - top - k / 2 * PIXELS);
    for (int32_t k = 0; k < n; k += BATCH) {
        int now = n - k < BATCH ? n - k : BATCH, next = n - k - now < BATCH ? n - k - now : BATCH;
        batch_load(&batch, r->model, r->projected, list + k, now, (float)left, (float)top);
        batch_fetch(r->model, r->projected, list + k + now, next);
        blend_batch(blocks, &batch, k);
        if (!(blocks[0].open | blocks[1].open | blocks[2].open | blocks[3].open))
            break;
    }
    for (int k = 0; k < BLOCKS; k++)
        store_block(r, left + k % 2 * PIXELS, top + k / 2 * PIXELS, &blocks[k]);
}

SEEP_LEVELS(render, render_tile, (const struct render *r, size_t tile), (r, tile));

static void render_work(void *arg, unsigned thread, unsigned n_threads)
{
    struct render *r = arg;
    size_t tile;

    (void)thread, (void)n_threads;
    while ((tile = atomic_fetch_add(&r->next, 1)) < r->n_tiles)
        render_levels[r->level](r, tile);
}

int seep_splat_render_cpu(const struct seep_splat_camera *camera,
                          const struct seep_splat_model *model,
                          const struct seep_splat_projected *projected,
                          const struct seep_splat_bins *bins, struct seep_splat_picture *out,
                          struct seep_stream *stream)
{
    struct render r = {.camera = camera,
                       .model = model,
                       .projected = projected,
                       .bins = bins,
                       .out = out,
                       .level = seep_cpu_level()};

    r.tiles_x = ((size_t)camera->width + TILE - 1) / TILE;
    r.n_tiles = r.tiles_x * (((size_t)camera->height + TILE - 1) / TILE);
    seep_stream_run(stream, render_work, &r);
    return 0;
}
