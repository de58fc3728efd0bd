#include "kernels/splat/splat_reference.h"

#include "kernels/splat/splat_math.h"
#include "kernels/splat/splat_reference_view.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* All Gaussians seen, and for each tile those that touch it, by depth. */
struct scene {
    const struct seep_splat_camera *camera;
    const struct seep_reference_model *model;
    int tiles_x, tiles_y;
    struct seep_reference_view *views; /* [n] */
    size_t *starts;                    /* [tiles + 1] */
    uint32_t *lists;                   /* [starts[tiles]] */
    size_t longest;                    /* list */
};

/* One pair of pixel and Gaussian that was blended. */
struct blend {
    uint32_t gaussian;
    bool clamped;
    double dx, dy, alpha, before; /* the transmittance before it */
};

struct by_depth {
    float depth;
    uint32_t index;
};

static int compare_depth(const void *a, const void *b)
{
    const struct by_depth *x = a, *y = b;

    if (x->depth != y->depth)
        return x->depth < y->depth ? -1 : 1;
    return x->index < y->index ? -1 : x->index > y->index;
}

static void scene_fini(struct scene *s)
{
    free(s->views);
    free(s->starts);
    free(s->lists);
}

/* Counts (lists == NULL) or fills the tiles' lists, in the order given; `ends` [tiles] moves on. */
static void list_tiles(const struct scene *s, const struct by_depth *order, size_t *ends,
                       uint32_t *lists)
{
    for (size_t i = 0; i < s->model->n; i++) {
        const int *t = s->views[order[i].index].tiles;
        for (int y = t[1]; y < t[3]; y++)
            for (int x = t[0]; x < t[2]; x++) {
                size_t *end = &ends[y * s->tiles_x + x];
                if (lists)
                    lists[*end] = order[i].index;
                ++*end;
            }
    }
}

static int scene_init(struct scene *s, const struct seep_splat_camera *camera,
                      const struct seep_reference_model *model, bool tight)
{
    size_t n = model->n, n_tiles;
    struct by_depth *order = calloc(n ? n : 1, sizeof *order);
    size_t *ends = NULL;

    *s = (struct scene){.camera = camera, .model = model};
    s->tiles_x = (camera->width + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE;
    s->tiles_y = (camera->height + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE;
    n_tiles = (size_t)s->tiles_x * (size_t)s->tiles_y;
    s->views = calloc(n ? n : 1, sizeof *s->views);
    s->starts = calloc(n_tiles + 1, sizeof *s->starts);
    ends = calloc(n_tiles, sizeof *ends);
    if (!order || !s->views || !s->starts || !ends)
        goto fail;
    for (size_t i = 0; i < n; i++) {
        seep_reference_see(camera, model, i, tight, &s->views[i]);
        order[i] = (struct by_depth){s->views[i].depth, (uint32_t)i};
    }
    qsort(order, n, sizeof *order, compare_depth);
    list_tiles(s, order, ends, NULL);
    for (size_t t = 0; t < n_tiles; t++) {
        if (ends[t] > s->longest)
            s->longest = ends[t];
        s->starts[t + 1] = s->starts[t] + ends[t];
        ends[t] = s->starts[t];
    }
    s->lists = calloc(s->starts[n_tiles] ? s->starts[n_tiles] : 1, sizeof *s->lists);
    if (!s->lists)
        goto fail;
    list_tiles(s, order, ends, s->lists);
    free(order);
    free(ends);
    return 0;
fail:
    free(order);
    free(ends);
    scene_fini(s);
    return -SEEP_ENOMEM;
}

/* The Gaussians that pixel (x, y) blends, front to back, into blends [longest]; their number.
 * *behind is what they leave of the background. */
static size_t blend_pixel(const struct scene *s, int x, int y, struct blend *blends, double *behind)
{
    size_t tile =
        (size_t)(y / SEEP_SPLAT_TILE) * (size_t)s->tiles_x + (size_t)(x / SEEP_SPLAT_TILE);
    size_t n = 0;

    *behind = 1;
    for (size_t k = s->starts[tile]; k < s->starts[tile + 1]; k++) {
        uint32_t i = s->lists[k];
        const struct seep_reference_view *v = &s->views[i];
        double dx = x + 0.5 - v->mean2d[0], dy = y + 0.5 - v->mean2d[1];
        double power = (v->conic[0] * dx * dx + v->conic[2] * dy * dy) / 2 + v->conic[1] * dx * dy;
        double alpha = s->model->opacities[i] * exp(-power);
        bool clamped = alpha > (double)SEEP_SPLAT_MAX_ALPHA;
        if (clamped)
            alpha = (double)SEEP_SPLAT_MAX_ALPHA;
        if (alpha < (double)SEEP_SPLAT_MIN_ALPHA)
            continue;
        if (*behind * (1 - alpha) < (double)SEEP_SPLAT_MIN_TRANSMITTANCE)
            break;
        blends[n++] = (struct blend){i, clamped, dx, dy, alpha, *behind};
        *behind *= 1 - alpha;
    }
    return n;
}

static int render(const struct seep_splat_camera *camera, const struct seep_reference_model *model,
                  bool tight, double *image, double *transmittance, size_t *n_pairs)
{
    struct scene s;
    int status = scene_init(&s, camera, model, tight);

    if (status)
        return status;
    struct blend *blends = calloc(s.longest ? s.longest : 1, sizeof *blends);
    if (!blends) {
        scene_fini(&s);
        return -SEEP_ENOMEM;
    }
    for (int y = 0; y < camera->height; y++)
        for (int x = 0; x < camera->width; x++) {
            size_t pixel = (size_t)y * (size_t)camera->width + (size_t)x;
            double behind, color[3] = {0};
            size_t n = blend_pixel(&s, x, y, blends, &behind);
            for (size_t k = 0; k < n; k++)
                for (int e = 0; e < 3; e++)
                    color[e] +=
                        s.views[blends[k].gaussian].color[e] * blends[k].alpha * blends[k].before;
            for (int e = 0; e < 3; e++)
                image[3 * pixel + (size_t)e] = color[e] + behind * (double)camera->background[e];
            if (transmittance)
                transmittance[pixel] = behind;
        }
    if (n_pairs)
        *n_pairs = s.starts[s.tiles_x * s.tiles_y];
    free(blends);
    scene_fini(&s);
    return 0;
}

int seep_reference_render(const struct seep_splat_camera *camera,
                          const struct seep_reference_model *model, double *image,
                          double *transmittance, size_t *n_pairs)
{
    return render(camera, model, false, image, transmittance, n_pairs);
}

int seep_reference_render_tight(const struct seep_splat_camera *camera,
                                const struct seep_reference_model *model, double *image,
                                double *transmittance, size_t *n_pairs)
{
    return render(camera, model, true, image, transmittance, n_pairs);
}

/* Adds what one pixel says of the Gaussians it blended. */
static void pixel_backward(const struct scene *s, const struct blend *blends, size_t n,
                           double behind, const double *image_grad,
                           struct seep_reference_view_grad *grads)
{
    double rest[3]; /* the picture behind the Gaussian at hand */

    for (int e = 0; e < 3; e++)
        rest[e] = behind * (double)s->camera->background[e];
    for (size_t k = n; k-- > 0;) {
        const struct blend *b = &blends[k];
        const struct seep_reference_view *v = &s->views[b->gaussian];
        struct seep_reference_view_grad *g = &grads[b->gaussian];
        double by_alpha = 0;
        for (int e = 0; e < 3; e++) {
            g->color[e] += image_grad[e] * b->alpha * b->before;
            by_alpha += image_grad[e] * (v->color[e] * b->before - rest[e] / (1 - b->alpha));
            rest[e] += v->color[e] * b->alpha * b->before;
        }
        if (b->clamped)
            continue;
        g->opacity += by_alpha * b->alpha / s->model->opacities[b->gaussian];
        double by_power = -by_alpha * b->alpha;
        g->conic[0] += by_power * b->dx * b->dx / 2;
        g->conic[1] += by_power * b->dx * b->dy;
        g->conic[2] += by_power * b->dy * b->dy / 2;
        g->mean2d[0] -= by_power * (v->conic[0] * b->dx + v->conic[1] * b->dy);
        g->mean2d[1] -= by_power * (v->conic[1] * b->dx + v->conic[2] * b->dy);
    }
}

static void clear(struct seep_reference_model *m)
{
    memset(m->means, 0, m->n * sizeof *m->means);
    memset(m->scales, 0, m->n * sizeof *m->scales);
    memset(m->rotations, 0, m->n * sizeof *m->rotations);
    memset(m->opacities, 0, m->n * sizeof *m->opacities);
    memset(m->sh, 0, m->n * (size_t)m->sh_stride * 3 * sizeof *m->sh);
}

int seep_reference_backward(const struct seep_splat_camera *camera,
                            const struct seep_reference_model *model, const double *image_grad,
                            struct seep_reference_model *out, double (*means2d)[2])
{
    struct scene s;
    int status = scene_init(&s, camera, model, false);

    if (status)
        return status;
    struct blend *blends = calloc(s.longest ? s.longest : 1, sizeof *blends);
    struct seep_reference_view_grad *grads = calloc(model->n ? model->n : 1, sizeof *grads);
    status = -SEEP_ENOMEM;
    if (!blends || !grads)
        goto fail;
    for (int y = 0; y < camera->height; y++)
        for (int x = 0; x < camera->width; x++) {
            size_t pixel = (size_t)y * (size_t)camera->width + (size_t)x;
            double behind;
            size_t n = blend_pixel(&s, x, y, blends, &behind);
            pixel_backward(&s, blends, n, behind, image_grad + 3 * pixel, grads);
        }
    clear(out);
    for (size_t i = 0; i < model->n; i++) {
        seep_reference_see_backward(camera, model, i, &s.views[i], &grads[i], out);
        for (int e = 0; means2d && e < 2; e++)
            means2d[i][e] = grads[i].mean2d[e];
    }
    status = 0;
fail:
    free(blends);
    free(grads);
    scene_fini(&s);
    return status;
}
