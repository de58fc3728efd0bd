/* Gaussians to the picture, sixteen at a time. */
#pragma GCC optimize("fp-contract=fast")

#include "kernels/splat/splat_lanes.h"
#include "kernels/splat/splat_tiles_cpu.h"
#include "kernels/splat/splat_twins.h"

#include <stdatomic.h>
#include <string.h>

/* Gaussians a thread takes at a time: enough to hide the counter, few enough to even out culled
 * ones and to keep the coefficients of all in the second cache. */
enum { BATCH = 32 * LANES };

/* Those of a batch that are not culled so far. Their colours come second, so that coefficients of
 * culled Gaussians are never read and the others' have been prefetched long before. */
struct seen {
    int n;
    uint32_t gaussians[BATCH];
    float dir[3][BATCH];
};

struct sums {
    uint64_t tiles, seen;
};

struct project {
    const struct seep_splat_camera *camera;
    const struct seep_splat_model *model;
    struct seep_splat_projected *out;
    atomic_size_t next;
    enum seep_cpu_level level;
    struct sums *sums; /* [n_threads], by stretches of Gaussians */
};

/* First and end tile along one axis of `size` pixels; false where no pixel centre is covered. */
static inline bool tile_range(float mean, float half, int size, uint16_t *first, uint16_t *end)
{
    float from = ceilf(mean - half - 0.5f), to = floorf(mean + half - 0.5f);

    from = from > 0 ? from : 0;
    to = to < (float)(size - 1) ? to : (float)(size - 1);
    if (!(from <= to))
        return false;
    *first = (uint16_t)((int)from / SEEP_SPLAT_TILE);
    *end = (uint16_t)((int)to / SEEP_SPLAT_TILE + 1);
    return true;
}

/* The extent of 3 sigma, and whether any of it is in the picture; of SQUARE's, which is at most
 * two pixels larger, whether it is among the picture's tiles. */
SEEP_INLINE void lanes_extent(const struct project *p, const struct lanes *b, float extent[LANES],
                              int32_t inside[LANES])
{
    float beyond = p->out->rule == SEEP_SPLAT_TILES_SQUARE ? SEEP_SPLAT_TILE + 2 : 0;
    float width = (float)p->camera->width + beyond, height = (float)p->camera->height + beyond;

    EACH_LANE (l) {
        float xx = b->cov[0][l], xy = b->cov[1][l], yy = b->cov[2][l], half = (xx - yy) / 2;
        float r = SEEP_SPLAT_SIGMAS * sqrtf((xx + yy) / 2 + sqrtf(half * half + xy * xy));
        float x = b->mean2d[0][l], y = b->mean2d[1][l];
        extent[l] = r;
        inside[l] = (b->depth[l] > SEEP_SPLAT_NEAR) & (x + r >= -beyond) & (x - r <= width) &
                    (y + r >= -beyond) & (y - r <= height);
    }
}

static inline bool tiles_of(const struct project *p, const struct lanes *b, int l, float opacity,
                            float r, uint16_t tiles[4])
{
    const struct seep_splat_camera *c = p->camera;
    float reach = 2 * logf(255 * opacity);
    float hx = sqrtf(reach * b->cov[0][l]), hy = sqrtf(reach * b->cov[2][l]);
    float sum = b->mean2d[0][l] + b->mean2d[1][l] + b->root[0][l] + b->root[1][l] + b->root[2][l] +
                b->depth[l] + opacity;

    if (!isfinite(sum))
        return false;
    if (p->out->rule == SEEP_SPLAT_TILES_SQUARE)
        return opacity > 0 &&
               seep_splat_square(c, (float[]){b->mean2d[0][l], b->mean2d[1][l]},
                                 (float[]){b->cov[0][l], b->cov[1][l], b->cov[2][l]}, tiles);
    if (!(reach > 0))
        return false;
    return tile_range(b->mean2d[0][l], hx < r ? hx : r, c->width, &tiles[0], &tiles[2]) &&
           tile_range(b->mean2d[1][l], hy < r ? hy : r, c->height, &tiles[1], &tiles[3]);
}

static inline void cull(const struct seep_splat_projected *out, size_t i)
{
    memset(out->prints[i].tiles, 0, sizeof out->prints[i].tiles);
    out->offsets[i + 1] = 0;
}

/* False: REACHED, and it reaches no tile. */
static inline bool store(const struct project *p, size_t i, int l, const struct lanes *b,
                         float opacity, const uint16_t tiles[4])
{
    struct seep_splat_print *print = &p->out->prints[i];
    uint32_t n_tiles = (uint32_t)(tiles[2] - tiles[0]) * (uint32_t)(tiles[3] - tiles[1]);

    print->depth = b->depth[l];
    print->opacity = opacity;
    for (int k = 0; k < 2; k++)
        print->mean[k] = b->mean2d[k][l];
    for (int k = 0; k < 3; k++)
        print->roots[k] = b->root[k][l];
    memcpy(print->tiles, tiles, sizeof print->tiles);
    if (p->out->rule == SEEP_SPLAT_TILES_REACHED)
        n_tiles = seep_splat_count_reached(p->camera, print);
    p->out->offsets[i + 1] = n_tiles;
    return n_tiles > 0;
}

static inline void see(const struct seep_splat_model *m, size_t i, const struct lanes *b, int l,
                       struct seen *s)
{
    const char *sh = (const char *)(m->sh + i * (size_t)m->sh_stride * 3);
    size_t used = 3 * sizeof *m->sh * (size_t)((m->sh_degree + 1) * (m->sh_degree + 1));

    for (size_t byte = 0; byte < used; byte += 64)
        __builtin_prefetch(sh + byte);
    s->gaussians[s->n] = (uint32_t)i;
    for (int k = 0; k < 3; k++)
        s->dir[k][s->n] = b->dir[k][l];
    s->n++;
}

SEEP_INLINE void project_lanes(const struct project *p, size_t first, size_t n, struct seen *s)
{
    struct lanes b;
    float extent[LANES];
    int32_t inside[LANES];

    lanes_load(p->model, first, &b);
    lanes_geometry(p->camera, &b);
    lanes_extent(p, &b, extent, inside);
    for (int l = 0; l < (int)n; l++) {
        size_t i = first + (size_t)l;
        uint16_t tiles[4];
        float opacity = p->model->opacities[i];
        if (inside[l] && tiles_of(p, &b, l, opacity, extent[l], tiles) &&
            store(p, i, l, &b, opacity, tiles))
            see(p->model, i, &b, l, s);
        else
            cull(p->out, i);
    }
}

/* Colours of those seen from `first` on, at most LANES. */
SEEP_INLINE void color_lanes(const struct project *p, const struct seen *s, int first)
{
    struct lanes b;
    float y[MAX_SH][LANES], color[3][LANES];
    uint32_t gaussians[LANES];
    int used = (p->model->sh_degree + 1) * (p->model->sh_degree + 1);

    EACH_LANE (l) {
        int from = first + l < s->n ? first + l : s->n - 1;
        gaussians[l] = s->gaussians[from];
        for (int k = 0; k < 3; k++)
            b.dir[k][l] = s->dir[k][from];
    }
    lanes_load_sh(p->model, gaussians, &b);
    lanes_harmonics(p->model->sh_degree, &b, y);
    for (int e = 0; e < 3; e++)
        EACH_LANE (l)
            color[e][l] = 0.5f;
    for (int k = 0; k < used; k++)
        for (int e = 0; e < 3; e++)
            EACH_LANE (l)
                color[e][l] += y[k][l] * b.sh[3 * k + e][l];
    for (int l = 0; l < LANES && first + l < s->n; l++) {
        if (!isfinite(color[0][l] + color[1][l] + color[2][l]))
            cull(p->out, gaussians[l]);
        for (int e = 0; e < 3; e++)
            p->out->prints[gaussians[l]].color[e] = color[e][l] > 0 ? color[e][l] : 0;
    }
}

SEEP_INLINE void project_batch(const struct project *p, size_t first, size_t end)
{
    struct seen s;

    s.n = 0;
    for (size_t i = first; i < end; i += LANES)
        project_lanes(p, i, end - i < LANES ? end - i : LANES, &s);
    for (int k = 0; k < s.n; k += LANES)
        color_lanes(p, &s, k);
}

SEEP_LEVELS(project, project_batch, (const struct project *p, size_t first, size_t end),
            (p, first, end));

static void project_work(void *arg, unsigned thread, unsigned n_threads)
{
    struct project *p = arg;
    size_t n = p->model->n, first;

    (void)thread, (void)n_threads;
    while ((first = atomic_fetch_add(&p->next, BATCH)) < n)
        project_levels[p->level](p, first, n - first < BATCH ? n : first + BATCH);
}

static void sum_work(void *arg, unsigned thread, unsigned n_threads)
{
    struct project *p = arg;
    size_t n = p->model->n, end = n * (thread + 1) / n_threads;

    struct sums sums = {0, 0};

    for (size_t i = n * thread / n_threads; i < end; i++) {
        sums.tiles += p->out->offsets[i + 1];
        sums.seen += p->out->offsets[i + 1] != 0;
    }
    p->sums[thread] = sums;
}

static void offset_work(void *arg, unsigned thread, unsigned n_threads)
{
    struct project *p = arg;
    size_t n = p->model->n, end = n * (thread + 1) / n_threads;
    uint64_t sum = 0;

    for (unsigned t = 0; t < thread; t++)
        sum += p->sums[t].tiles;
    for (size_t i = n * thread / n_threads; i < end; i++)
        p->out->offsets[i + 1] = (uint32_t)(sum += p->out->offsets[i + 1]);
}

int seep_splat_project_cpu(const struct seep_splat_camera *camera,
                           const struct seep_splat_model *model, struct seep_splat_projected *out,
                           void *scratch, size_t *scratch_bytes, struct seep_stream *stream)
{
    unsigned n_threads = seep_stream_threads(stream);
    uint64_t total = 0, seen = 0;
    struct project p = {
        .camera = camera, .model = model, .out = out, .level = seep_cpu_level(), .sums = scratch};

    if (!scratch) {
        *scratch_bytes = n_threads * sizeof *p.sums;
        return 0;
    }
    if (*scratch_bytes < n_threads * sizeof *p.sums)
        return -SEEP_EINVAL;
    out->offsets[0] = 0;
    seep_stream_run(stream, project_work, &p);
    seep_stream_run(stream, sum_work, &p);
    for (unsigned t = 0; t < n_threads; t++) {
        total += p.sums[t].tiles;
        seen += p.sums[t].seen;
    }
    if (total > UINT32_MAX)
        return -SEEP_EINVAL;
    seep_stream_run(stream, offset_work, &p);
    out->n_pairs = (size_t)total;
    out->n_seen = (size_t)seen;
    return 0;
}
