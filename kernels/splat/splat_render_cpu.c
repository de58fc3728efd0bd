/* The picture, tile by tile: threads take tiles from a counter. */
#pragma GCC optimize("fp-contract=fast")

#include "kernels/splat/splat_blend_avx512.h"
#include "kernels/splat/splat_twins.h"

#include <stdatomic.h>

struct render {
    const struct seep_splat_camera *camera;
    const struct seep_splat_projected *projected;
    const struct seep_splat_bins *bins;
    struct seep_splat_picture *out;
    size_t tiles_x, n_tiles;
    atomic_size_t next;
    enum seep_cpu_level level;
};

SEEP_INLINE void clear_block(struct block *t, int width, int height)
{
    memset(t, 0, sizeof *t);
    t->open = width > 0 && height > 0;
    for (int i = 0; i < BLOCK_PIXELS; i++)
        t->through[i] = i % PIXELS < width && i / PIXELS < height ? 1 : -1;
}

/* The first n of a row's pixels, nearly always all of them. */
SEEP_INLINE void copy_row(void *to, const void *from, size_t pixel_bytes, int n)
{
    if (n == PIXELS)
        memcpy(to, from, PIXELS * pixel_bytes);
    else
        memcpy(to, from, (size_t)n * pixel_bytes);
}

SEEP_INLINE void store_block(const struct render *r, int left, int top, const struct block *t)
{
    int width = r->camera->width, height = r->camera->height;
    int n = width - left < PIXELS ? width - left : PIXELS;

    for (int row = 0; n > 0 && row < ROWS && top + row < height; row++) {
        size_t pixel = (size_t)(top + row) * (size_t)width + (size_t)left;
        float through[PIXELS], image[PIXELS][3];
        for (int x = 0; x < PIXELS; x++) {
            int i = row * PIXELS + x;
            through[x] = fabsf(t->through[i]);
            for (int e = 0; e < 3; e++)
                image[x][e] = t->color[e][i] + through[x] * r->camera->background[e];
        }
        copy_row(r->out->image + 3 * pixel, image, sizeof image[0], n);
        copy_row(r->out->transmittance + pixel, through, sizeof through[0], n);
        copy_row(r->out->last + pixel, t->last + row * PIXELS, sizeof t->last[0], n);
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
        clear_block(&blocks[k], r->camera->width - left - block_left(k),
                    r->camera->height - top - block_top(k));
    for (int32_t k = 0; k < n; k += BATCH) {
        int now = n - k < BATCH ? n - k : BATCH, next = n - k - now < BATCH ? n - k - now : BATCH;
        batch_load(&batch, r->projected, list + k, now, (float)left, (float)top);
        batch_fetch(r->projected, list + k + now, next);
#if SEEP_ARCH_AVX
        bool open = r->level == SEEP_CPU_AVX512 ? blend_batch_avx512(blocks, &batch, k)
                                                : blend_batch(blocks, &batch, k);
#else
        bool open = blend_batch(blocks, &batch, k);
#endif
        if (!open)
            break;
    }
    for (int k = 0; k < BLOCKS; k++)
        store_block(r, left + block_left(k), top + block_top(k), &blocks[k]);
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
                       .projected = projected,
                       .bins = bins,
                       .out = out,
                       .level = seep_cpu_level()};

    r.tiles_x = ((size_t)camera->width + TILE - 1) / TILE;
    r.n_tiles = r.tiles_x * (((size_t)camera->height + TILE - 1) / TILE);
    (void)model;
    seep_stream_run(stream, render_work, &r);
    return 0;
}
