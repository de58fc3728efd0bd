/* From the picture's gradient to sums for each pair of tile and Gaussian, back to front. */
#pragma GCC optimize("fp-contract=fast")

#include "kernels/splat/splat_backward_parts.h"
#include "kernels/splat/splat_pixels.h"
#include "kernels/splat/splat_twins.h"

#include <stdatomic.h>

struct backward {
    const struct seep_splat_camera *camera;
    const struct seep_splat_model *model;
    const struct seep_splat_projected *projected;
    const struct seep_splat_bins *bins;
    const struct seep_splat_picture *picture;
    const float *image_grad;
    float (*sums)[PAIR_SUMS]; /* [n_pairs] */
    size_t tiles_x, n_tiles;
    atomic_size_t next;
    enum seep_cpu_level level;
};

/* through: behind the pair at hand; rest: of the picture behind it, times the gradient. */
struct tile {
    _Alignas(32) float through[TILE_PIXELS];
    _Alignas(32) float rest[TILE_PIXELS];
    _Alignas(32) float grad[3][TILE_PIXELS];
    _Alignas(32) int32_t last[TILE_PIXELS];
    int32_t longest;
};

SEEP_INLINE void load_tile(const struct backward *b, size_t tile, struct tile *t)
{
    int width = b->camera->width, height = b->camera->height;
    int left = (int)(tile % b->tiles_x) * TILE, top = (int)(tile / b->tiles_x) * TILE;

    memset(t, 0, sizeof *t);
    for (int i = 0; i < TILE_PIXELS; i++) {
        int x = left + i % TILE, y = top + i / TILE;
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

SEEP_INLINE void unblend_pixels(struct tile *t, int at, const struct footprint *f, float dx,
                                float dy, int32_t index, pixels sums[PAIR_SUMS])
{
    pixels *through = (pixels *)(t->through + at), *rest = (pixels *)(t->rest + at);
    pixel_ints blended = *(pixel_ints *)(t->last + at) > index;
    pixels u, q, opacity;

    exponents(f, dx, dy, &u, &q);
    blended &= q <= f->reach;
    if (!any_of(&blended))
        return;
    exp2_minus(&q, &opacity);
    opacity *= f->opacity;
    pixel_ints held = opacity >= SEEP_SPLAT_MAX_ALPHA;
    pixels alpha = CHOOSE(held, (pixels){0} + SEEP_SPLAT_MAX_ALPHA, opacity);
    pixel_ints drawn = (alpha >= SEEP_SPLAT_MIN_ALPHA) & blended;
    pixels red = *(pixels *)(t->grad[0] + at), green = *(pixels *)(t->grad[1] + at);
    pixels blue = *(pixels *)(t->grad[2] + at);
    alpha = (pixels)(drawn & (pixel_ints)alpha);
    pixels inverse = 1 / (1 - alpha), before = *through * inverse, weight = alpha * before;
    pixels along = red * f->color[0] + green * f->color[1] + blue * f->color[2];
    pixels w = (before * along - *rest * inverse) * alpha;
    w = (pixels)(~held & (pixel_ints)w);
    *rest += weight * along;
    *through = before;
    pixels wu = w * u;
    sums[SUM_W] += w;
    sums[SUM_WU] += wu;
    sums[SUM_WUX] += wu * (PIXEL_RAMP + dx);
    sums[SUM_WY] += w * dy;
    sums[SUM_WUY] += wu * dy;
    sums[SUM_WYY] += w * (dy * dy);
    sums[SUM_COLOR] += weight * red;
    sums[SUM_COLOR + 1] += weight * green;
    sums[SUM_COLOR + 2] += weight * blue;
}

/* Where the sums of the tile's pair with this Gaussian lie. */
SEEP_INLINE float *pair_of(const struct backward *b, size_t tile, uint32_t gaussian)
{
    const uint16_t *t = b->projected->tiles[gaussian];
    size_t x = tile % b->tiles_x - t[0], y = tile / b->tiles_x - t[1];

    return b->sums[b->projected->offsets[gaussian] + y * (size_t)(t[2] - t[0]) + x];
}

SEEP_INLINE void unblend_tile(const struct backward *b, size_t tile)
{
    const uint32_t *list = b->bins->gaussians + b->bins->tile_start[tile];
    int32_t n = (int32_t)(b->bins->tile_start[tile + 1] - b->bins->tile_start[tile]);
    float left = (float)(tile % b->tiles_x * TILE), top = (float)(tile / b->tiles_x * TILE);
    struct tile t;

    load_tile(b, tile, &t);
    for (int32_t k = t.longest; k < n; k++)
        memset(pair_of(b, tile, list[k]), 0, sizeof b->sums[0]);
    for (int32_t k = t.longest; k-- > 0;) {
        pixels sums[PAIR_SUMS] = {{0}};
        struct footprint f = footprint_of(b->model, b->projected, list[k], left, top);
        for (int row = f.first_row; row < f.end_row; row++)
            for (int half = f.first_half; half < f.end_half; half++)
                unblend_pixels(&t, row * TILE + half * PIXELS, &f, (float)(half * PIXELS) - f.x,
                               (float)row - f.y, k, sums);
        float *pair = pair_of(b, tile, list[k]);
        for (int s = 0; s < PAIR_SUMS; s++) {
            pixels v = sums[s];
            pair[s] = ((v[0] + v[4]) + (v[2] + v[6])) + ((v[1] + v[5]) + (v[3] + v[7]));
        }
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
                         .model = model,
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
