/* The picture, tile by tile: threads take tiles from a counter, a row's pixels are blended side by
 * side. */
#pragma GCC optimize("fp-contract=fast")

#include "kernels/splat/splat_pixels.h"
#include "kernels/splat/splat_twins.h"

#include <stdatomic.h>

/* Pairs between two looks at whether any pixel still lets light through, and ahead of which a
 * Gaussian is fetched into the cache. */
enum { LOOK_EVERY = 16, FETCH_AHEAD = 8 };

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

/* A negative transmittance is that of a pixel that has stopped. */
struct tile {
    _Alignas(32) float through[TILE_PIXELS];
    _Alignas(32) float color[3][TILE_PIXELS];
    _Alignas(32) int32_t last[TILE_PIXELS];
};

SEEP_INLINE void blend_pixels(struct tile *t, int at, const struct footprint *f, float dx, float dy,
                              int32_t end)
{
    pixels *through = (pixels *)(t->through + at);
    pixel_ints *last = (pixel_ints *)(t->last + at);
    pixels before = *through, u, q, alpha;

    exponents(f, dx, dy, &u, &q);
    pixel_ints near = (q <= f->reach) & (before > 0);
    if (!any_of(&near))
        return;
    exp2_minus(&q, &alpha);
    alpha *= f->opacity;
    if (f->opacity >= SEEP_SPLAT_MAX_ALPHA)
        alpha = CHOOSE(alpha < SEEP_SPLAT_MAX_ALPHA, alpha, (pixels){0} + SEEP_SPLAT_MAX_ALPHA);
    pixels after = before - before * alpha;
    pixel_ints drawn = near & (alpha >= SEEP_SPLAT_MIN_ALPHA);
    pixel_ints blends = drawn & (after >= SEEP_SPLAT_MIN_TRANSMITTANCE);
    pixels weight = (pixels)(blends & (pixel_ints)(alpha * before));
    /* Drawn but not blended: stops, or has stopped. */
    pixels kept = (pixels)((pixel_ints)before | (drawn & INT32_MIN));
    for (int e = 0; e < 3; e++)
        *(pixels *)(t->color[e] + at) += weight * f->color[e];
    *through = CHOOSE(blends, after, kept);
    *last = (blends & end) | (~blends & *last);
}

SEEP_INLINE bool any_open(const struct tile *t)
{
    float most = -1;

    for (int i = 0; i < TILE_PIXELS; i++)
        most = t->through[i] > most ? t->through[i] : most;
    return most > 0;
}

SEEP_INLINE void blend_tile(const struct render *r, size_t tile, struct tile *t)
{
    const uint32_t *list = r->bins->gaussians + r->bins->tile_start[tile];
    uint32_t n = r->bins->tile_start[tile + 1] - r->bins->tile_start[tile];
    float left = (float)(tile % r->tiles_x * TILE), top = (float)(tile / r->tiles_x * TILE);

    for (int i = 0; i < TILE_PIXELS; i++) {
        bool inside =
            (int)left + i % TILE < r->camera->width && (int)top + i / TILE < r->camera->height;
        t->through[i] = inside ? 1 : -1;
        t->color[0][i] = t->color[1][i] = t->color[2][i] = 0;
        t->last[i] = 0;
    }
    for (uint32_t k = 0; k < n; k++) {
        if (k + FETCH_AHEAD < n) {
            uint32_t ahead = list[k + FETCH_AHEAD];
            __builtin_prefetch(r->projected->means2d[ahead]);
            __builtin_prefetch(r->projected->roots[ahead]);
            __builtin_prefetch(r->projected->colors[ahead]);
            __builtin_prefetch(&r->model->opacities[ahead]);
        }
        struct footprint f = footprint_of(r->model, r->projected, list[k], left, top);
        for (int row = f.first_row; row < f.end_row; row++)
            for (int half = f.first_half; half < f.end_half; half++)
                blend_pixels(t, row * TILE + half * PIXELS, &f, (float)(half * PIXELS) - f.x,
                             (float)row - f.y, (int32_t)k + 1);
        if (k % LOOK_EVERY == LOOK_EVERY - 1 && !any_open(t))
            break;
    }
}

SEEP_INLINE void store_tile(const struct render *r, size_t tile, const struct tile *t)
{
    int width = r->camera->width, height = r->camera->height;
    int left = (int)(tile % r->tiles_x) * TILE, top = (int)(tile / r->tiles_x) * TILE;

    for (int y = top; y < top + TILE && y < height; y++)
        for (int x = left; x < left + TILE && x < width; x++) {
            int i = (y - top) * TILE + x - left;
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
    struct tile t;

    blend_tile(r, tile, &t);
    store_tile(r, tile, &t);
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
