/* More Gaussians, in larger arrays. An example of legitimate growth: now and then each array is
 * replaced by a larger one, and this ends. */
#include "kernels/compute/chance.h"
#include "kernels/lab/scenarios/splat_gaussians.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rows that go through the host at a time. */
enum { CHUNK = 1024 };

static const float split_size = 1.6f, large_share = 0.01f; /* Kerbl et al., section 5.2 */

/* A Gaussian that becomes two. */
struct parent {
    uint32_t index;
    bool split; /* else doubled */
    float moved[3];
};

struct densification {
    struct seep_gaussians *g;
    struct parent *parents; /* [n] by index */
    size_t n;
    float *rows, *children; /* [CHUNK][widest array] each */
};

int seep_gaussians_watch(struct seep_gaussians *g)
{
    float(*gradients)[2] = malloc((g->n + 1) * sizeof *gradients);
    int rc = gradients ? 0 : -SEEP_ENOMEM;

    if (!rc)
        rc = seep_stream_download(g->stream, gradients, g->gradients.means2d,
                                  g->n * sizeof *gradients);
    for (size_t i = 0; i < g->n && !rc; i++)
        g->pull[i] += sqrtf(gradients[i][0] * gradients[i][0] + gradients[i][1] * gradients[i][1]);
    free(gradients);
    return rc;
}

/* ---- parents --------------------------------------------------------------------------------- */

struct ranked {
    float pull;
    uint32_t index;
};

static int most_pull_first(const void *a, const void *b)
{
    const struct ranked *p = a, *q = b;

    if (p->pull != q->pull)
        return p->pull > q->pull ? -1 : 1;
    return (p->index > q->index) - (p->index < q->index);
}

static int by_index(const void *a, const void *b)
{
    const struct parent *p = a, *q = b;

    return (p->index > q->index) - (p->index < q->index);
}

static int choose_parents(const struct seep_gaussians *g, struct densification *d)
{
    struct ranked *ranked = malloc((g->n + 1) * sizeof *ranked);

    if (!ranked)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < g->n; i++)
        ranked[i] = (struct ranked){isfinite(g->pull[i]) ? g->pull[i] : 0, (uint32_t)i};
    qsort(ranked, g->n, sizeof *ranked, most_pull_first);
    for (size_t i = 0; i < d->n; i++)
        d->parents[i] = (struct parent){.index = ranked[i].index};
    qsort(d->parents, d->n, sizeof *d->parents, by_index);
    free(ranked);
    return 0;
}

/* Parents from the chunk of rows [from, to): d->parents[*first, *end). */
static void parents_in(const struct densification *d, size_t to, size_t *first, size_t *end)
{
    *first = *end;
    while (*end < d->n && d->parents[*end].index < to)
        ++*end;
}

static void place_child(struct parent *p, const float scale[3], const float rotation[4],
                        float extent, struct seep_chance *chance)
{
    double q[4] = {rotation[0], rotation[1], rotation[2], rotation[3]}, at[3];
    float r[3][3];

    p->split = fmaxf(fmaxf(scale[0], scale[1]), scale[2]) > large_share * extent;
    if (!p->split)
        return;
    for (int k = 0; k < 3; k++)
        at[k] = scale[k] * seep_chance_normal(chance);
    seep_view_rotation(q, r);
    for (int row = 0; row < 3; row++) {
        for (int k = 0; k < 3; k++)
            p->moved[row] += (float)((double)r[row][k] * at[k]);
        /* A scale or rotation that is not finite moves nothing. */
        if (!isfinite(p->moved[row]))
            p->moved[row] = 0;
    }
}

static int place_children(const struct densification *d, float extent, uint64_t seed)
{
    const struct seep_gaussians *g = d->g;
    float *scales = d->rows, *rotations = d->children;
    struct seep_chance chance = {seed};
    size_t first, end = 0;
    int rc = 0;

    for (size_t from = 0; from < g->n && !rc; from += CHUNK) {
        size_t n = g->n - from < CHUNK ? g->n - from : CHUNK;
        rc = seep_stream_download(g->stream, scales, g->trained.scales + from,
                                  n * sizeof *g->trained.scales);
        if (!rc)
            rc = seep_stream_download(g->stream, rotations, g->trained.parameters.rotations + from,
                                      n * sizeof *g->trained.parameters.rotations);
        parents_in(d, from + n, &first, &end);
        for (size_t i = first; i < end && !rc; i++) {
            size_t row = d->parents[i].index - from;
            place_child(&d->parents[i], scales + 3 * row, rotations + 4 * row, extent, &chance);
        }
    }
    return rc;
}

/* ---- arrays ---------------------------------------------------------------------------------- */

/* A parent's row, and its child's. */
static void divide(const struct parent *p, const struct seep_gaussian_array *array, float *row,
                   float *child)
{
    for (size_t k = 0; k < array->width; k++) {
        if (array->kind == SEEP_GAUSSIAN_SCALE && p->split)
            row[k] /= split_size;
        if (array->kind == SEEP_GAUSSIAN_LOG_SCALE && p->split)
            row[k] -= logf(split_size);
        child[k] = array->kind == SEEP_GAUSSIAN_MOMENT ? 0 : row[k];
        if (array->kind == SEEP_GAUSSIAN_MEAN) {
            child[k] += p->moved[k];
            row[k] -= p->moved[k];
        }
    }
}

static int copy_rows(const struct densification *d, const struct seep_gaussian_array *array,
                     const float *from, float *to)
{
    struct seep_gaussians *g = d->g;
    size_t first, end = 0, width = array->width;
    int rc = 0;

    for (size_t at = 0; at < g->n && !rc; at += CHUNK) {
        size_t n = g->n - at < CHUNK ? g->n - at : CHUNK;
        rc = seep_stream_download(g->stream, d->rows, from + at * width,
                                  n * width * sizeof *d->rows);
        parents_in(d, at + n, &first, &end);
        for (size_t i = first; i < end && !rc; i++)
            divide(&d->parents[i], array, d->rows + (d->parents[i].index - at) * width,
                   d->children + (i - first) * width);
        if (!rc)
            rc = seep_stream_upload(g->stream, to + at * width, d->rows,
                                    n * width * sizeof *d->rows);
        if (!rc && end > first)
            rc = seep_stream_upload(g->stream, to + (g->n + first) * width, d->children,
                                    (end - first) * width * sizeof *d->children);
    }
    return rc;
}

static int replace_array(const struct densification *d, const struct seep_gaussian_array *array)
{
    struct seep_gaussians *g = d->g;
    void *old = seep_gaussian_array_get(array), *values;
    int rc = seep_gaussian_array_make(array, g->n + d->n, g->stream, &values);

    if (!rc && array->kind != SEEP_GAUSSIAN_SCRATCH)
        rc = copy_rows(d, array, old, values);
    return seep_gaussian_array_settle(array, rc, g->stream, values);
}

int seep_gaussians_densify(struct seep_gaussians *g, size_t n_new, float extent, uint64_t seed)
{
    struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS];
    struct densification d = {.g = g, .n = n_new - g->n};
    size_t widest = 3 * SEEP_GAUSSIAN_SH_STRIDE;
    int rc = 0;

    if (n_new < g->n || d.n > g->n)
        return -SEEP_EINVAL;
    d.parents = malloc((d.n + 1) * sizeof *d.parents);
    d.rows = malloc(CHUNK * widest * sizeof *d.rows);
    d.children = malloc(CHUNK * widest * sizeof *d.children);
    float *pull = calloc(n_new + 1, sizeof *pull);
    if (!d.parents || !d.rows || !d.children || !pull)
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = choose_parents(g, &d);
    if (!rc)
        rc = place_children(&d, extent, seed);
    seep_gaussian_arrays(g, arrays);
    for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS && !rc; i++)
        rc = replace_array(&d, &arrays[i]);
    if (!rc) {
        free(g->pull);
        g->pull = pull;
        pull = NULL;
        g->n = n_new;
    }
    free(pull);
    free(d.parents);
    free(d.rows);
    free(d.children);
    return rc;
}
