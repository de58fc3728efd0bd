/* From the picture's gradient to sums for each pair of tile and Gaussian, back to front. */
#pragma GCC optimize("fp-contract=fast")

#include "kernels/splat/splat_backward_parts.h"
#include "kernels/splat/splat_pixels.h"
#include "kernels/splat/splat_tiles_cpu.h"
#include "kernels/splat/splat_twins.h"

#include <stdatomic.h>

struct backward {
    const struct seep_splat_camera *camera;
    const struct seep_splat_projected *projected;
    const struct seep_splat_bins *bins;
    const struct seep_splat_picture *picture;
    const float *image_grad;
    float (*sums)[PAIR_SUMS]; /* [n_pairs] */
    size_t tiles_x, n_tiles;
    atomic_size_t next;
    enum seep_cpu_level level;
};

/* through: transmittance after the current pair; rest: the picture behind it, times the
 * gradient. */
struct block {
    _Alignas(32) float through[BLOCK_PIXELS];
    _Alignas(32) float rest[BLOCK_PIXELS];
    _Alignas(32) float grad[3][BLOCK_PIXELS];
    _Alignas(32) int32_t last[BLOCK_PIXELS];
    int32_t longest; /* last */
};

SEEP_INLINE void load_block(const struct backward *b, int left, int top, struct block *t)
{
    int width = b->camera->width, height = b->camera->height;

    memset(t, 0, sizeof *t);
    for (int i = 0; i < BLOCK_PIXELS; i++) {
        int x = left + i % PIXELS, y = top + i / PIXELS;
        if (x >= width || y >= height)
            continue;
        size_t pixel = (size_t)y * (size_t)width + (size_t)x;
        t->through[i] = b->picture->transmittance[pixel];
        t->last[i] = (int32_t)b->picture->last[pixel];
        t->longest = t->last[i] > t->longest ? t->last[i] : t->longest;
        for (int e = 0; e < 3; e++) {
            t->grad[e][i] = b->image_grad[3 * pixel + (size_t)e];
            t->rest[i] += t->through[i] * b->camera->background[e] * t->grad[e][i];
        }
    }
}

/* The block's pixels under Gaussian i of the batch, which is `index` of the tile's list. */
SEEP_INLINE void unblend(struct block *t, int block, const struct batch *b, int i, int32_t index,
                         pixels sums[PAIR_SUMS])
{
    int top = block_top(block), left = block_left(block);
    const pixels dx = PIXEL_RAMP + (float)left - b->x[i], adx = b->a[i] * dx;

    for (int row = 0; row < ROWS; row++) {
        float dy = (float)(row + top) - b->y[i];
        pixels *through = (pixels *)(t->through + row * PIXELS);
        pixels *rest = (pixels *)(t->rest + row * PIXELS);
        pixels red = *(pixels *)(t->grad[0] + row * PIXELS);
        pixels green = *(pixels *)(t->grad[1] + row * PIXELS);
        pixels blue = *(pixels *)(t->grad[2] + row * PIXELS);
        pixels u, q, alpha;
        row_exponent(b, i, &adx, dy, &u, &q);
        exp2_minus(&q, &alpha);
        pixel_ints held = alpha >= SEEP_SPLAT_MAX_ALPHA;
        alpha = CHOOSE(held, (pixels){0} + SEEP_SPLAT_MAX_ALPHA, alpha);
        pixel_ints drawn = (q <= SEEN_EXPONENT) & (*(pixel_ints *)(t->last + row * PIXELS) > index);
        alpha = (pixels)(drawn & (pixel_ints)alpha);
        pixels inverse = 1 / (1 - alpha), before = *through * inverse, weight = alpha * before;
        pixels along = red * b->color[0][i] + green * b->color[1][i] + blue * b->color[2][i];
        pixels w = (before * along - *rest * inverse) * alpha;
        w = (pixels)(~held & (pixel_ints)w);
        *rest += weight * along;
        *through = before;
        pixels wu = w * u;
        sums[SUM_W] += w;
        sums[SUM_WU] += wu;
        sums[SUM_WUX] += wu * dx;
        sums[SUM_WY] += w * dy;
        sums[SUM_WUY] += wu * dy;
        sums[SUM_WYY] += w * (dy * dy);
        sums[SUM_COLOR] += weight * red;
        sums[SUM_COLOR + 1] += weight * green;
        sums[SUM_COLOR + 2] += weight * blue;
    }
}

/* Where the sums of the tile's pair with this Gaussian lie. */
SEEP_INLINE float *pair_of(const struct backward *b, size_t tile, uint32_t gaussian)
{
    const struct seep_splat_print *print = &b->projected->prints[gaussian];
    const uint16_t *t = print->tiles;
    size_t x = tile % b->tiles_x, y = tile / b->tiles_x, nth;

    nth = seep_splat_whole_box(b->projected, gaussian)
              ? (y - t[1]) * (size_t)(t[2] - t[0]) + x - t[0]
              : seep_splat_nth_reached(b->camera, print, (unsigned)x, (unsigned)y);
    return b->sums[b->projected->offsets[gaussian] + nth];
}

/* Gaussians first … of the tile's list, the last one first. */
SEEP_INLINE void unblend_batch(struct block blocks[BLOCKS], struct batch *b, int32_t first,
                               pixels sums[BATCH][PAIR_SUMS])
{
    memset(sums, 0, BATCH * sizeof *sums);
    for (int block = 0; block < BLOCKS; block++) {
        if (blocks[block].longest <= first)
            continue;
        for (int k = batch_touching(b, block); k-- > 0;) {
            int i = b->touching[k];
            if (first + i < blocks[block].longest)
                unblend(&blocks[block], block, b, i, first + i, sums[i]);
        }
    }
}

SEEP_INLINE void unblend_tile(const struct backward *b, size_t tile)
{
    const uint32_t *list = b->bins->gaussians + b->bins->tile_start[tile];
    int32_t n = (int32_t)(b->bins->tile_start[tile + 1] - b->bins->tile_start[tile]), longest = 0;
    int left = (int)(tile % b->tiles_x) * TILE, top = (int)(tile / b->tiles_x) * TILE;
    struct block blocks[BLOCKS];
    struct batch batch = {0};
    pixels sums[BATCH][PAIR_SUMS];

    for (int k = 0; k < BLOCKS; k++) {
        load_block(b, left + block_left(k), top + block_top(k), &blocks[k]);
        longest = blocks[k].longest > longest ? blocks[k].longest : longest;
    }
    for (int32_t k = longest; k < n; k++)
        memset(pair_of(b, tile, list[k]), 0, sizeof b->sums[0]);
    for (int32_t end = longest; end > 0;) {
        int32_t first = end > BATCH ? end - BATCH : 0;
        batch_load(&batch, b->projected, list + first, end - first, (float)left, (float)top);
        unblend_batch(blocks, &batch, first, sums);
        for (int i = 0; i < batch.n; i++) {
            float *pair = pair_of(b, tile, batch.gaussians[i]);
            for (int s = 0; s < PAIR_SUMS; s++) {
                pixels v = sums[i][s];
                pair[s] = ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
            }
        }
        end = first;
    }
}

SEEP_LEVELS(unblend, unblend_tile, (const struct backward *b, size_t tile), (b, tile));

static void unblend_work(void *arg, unsigned thread, unsigned n_threads)
{
    struct backward *b = arg;
    size_t tile;

    (void)thread, (void)n_threads;
    while ((tile = atomic_fetch_add(&b->next, 1)) < b->n_tiles)
        unblend_levels[b->level](b, tile);
}

int seep_splat_backward_cpu(const struct seep_splat_camera *camera,
                            const struct seep_splat_model *model,
                            const struct seep_splat_projected *projected,
                            const struct seep_splat_bins *bins,
                            const struct seep_splat_picture *picture, const float *image_grad,
                            struct seep_splat_gradients *out, void *scratch, size_t *scratch_bytes,
                            struct seep_stream *stream)
{
    struct backward b = {.camera = camera,
                         .projected = projected,
                         .bins = bins,
                         .picture = picture,
                         .image_grad = image_grad,
                         .sums = scratch,
                         .level = seep_cpu_level()};
    size_t needed = (projected->n_pairs ? projected->n_pairs : 1) * sizeof *b.sums;

    if (!scratch) {
        *scratch_bytes = needed;
        return 0;
    }
    if (*scratch_bytes < needed)
        return -SEEP_EINVAL;
    b.tiles_x = ((size_t)camera->width + TILE - 1) / TILE;
    b.n_tiles = b.tiles_x * (((size_t)camera->height + TILE - 1) / TILE);
    seep_stream_run(stream, unblend_work, &b);
    seep_splat_unproject(camera, model, projected, (const float(*)[PAIR_SUMS])b.sums, out, stream);
    return 0;
}
