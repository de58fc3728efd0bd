#include "kernels/lab/scenarios/splat_gaussians.h"

#include "kernels/splat/splat_math.h"
#include "kernels/splat/splat_scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SH_FLOATS = 3 * SEEP_GAUSSIAN_SH_STRIDE };

#define ARRAY(pointer, width, kind)                                                                \
    {                                                                                              \
        &(pointer), (width), (kind)                                                                \
    }

void seep_gaussian_arrays(struct seep_gaussians *g,
                          struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS])
{
    struct seep_splat_trained *t = &g->trained;
    struct seep_splat_parameters *p = &t->parameters, *first = &t->first, *second = &t->second;
    const struct seep_gaussian_array all[SEEP_GAUSSIAN_ARRAYS] = {
        ARRAY(p->means, 3, SEEP_GAUSSIAN_MEAN),
        ARRAY(p->log_scales, 3, SEEP_GAUSSIAN_LOG_SCALE),
        ARRAY(p->rotations, 4, SEEP_GAUSSIAN_COPIED),
        ARRAY(p->logits, 1, SEEP_GAUSSIAN_COPIED),
        ARRAY(p->sh, SH_FLOATS, SEEP_GAUSSIAN_COPIED),
        ARRAY(first->means, 3, SEEP_GAUSSIAN_MOMENT),
        ARRAY(first->log_scales, 3, SEEP_GAUSSIAN_MOMENT),
        ARRAY(first->rotations, 4, SEEP_GAUSSIAN_MOMENT),
        ARRAY(first->logits, 1, SEEP_GAUSSIAN_MOMENT),
        ARRAY(first->sh, SH_FLOATS, SEEP_GAUSSIAN_MOMENT),
        ARRAY(second->means, 3, SEEP_GAUSSIAN_MOMENT),
        ARRAY(second->log_scales, 3, SEEP_GAUSSIAN_MOMENT),
        ARRAY(second->rotations, 4, SEEP_GAUSSIAN_MOMENT),
        ARRAY(second->logits, 1, SEEP_GAUSSIAN_MOMENT),
        ARRAY(second->sh, SH_FLOATS, SEEP_GAUSSIAN_MOMENT),
        ARRAY(t->scales, 3, SEEP_GAUSSIAN_SCALE),
        ARRAY(t->opacities, 1, SEEP_GAUSSIAN_COPIED),
        ARRAY(g->gradients.means, 3, SEEP_GAUSSIAN_SCRATCH),
        ARRAY(g->gradients.scales, 3, SEEP_GAUSSIAN_SCRATCH),
        ARRAY(g->gradients.rotations, 4, SEEP_GAUSSIAN_SCRATCH),
        ARRAY(g->gradients.opacities, 1, SEEP_GAUSSIAN_SCRATCH),
        ARRAY(g->gradients.sh, SH_FLOATS, SEEP_GAUSSIAN_SCRATCH),
        ARRAY(g->gradients.means2d, 2, SEEP_GAUSSIAN_SCRATCH),
    };

    memcpy(arrays, all, sizeof all);
}

/* Pointers to floats and to rows of floats have the same representation, but different types. */
void *seep_gaussian_array_get(const struct seep_gaussian_array *array)
{
    void *values;

    memcpy(&values, array->pointer, sizeof values);
    return values;
}

void seep_gaussian_array_set(const struct seep_gaussian_array *array, void *values)
{
    memcpy(array->pointer, &values, sizeof values);
}

int seep_gaussian_array_settle(const struct seep_gaussian_array *array, int rc,
                               struct seep_stream *stream, void *values)
{
    void *old = seep_gaussian_array_get(array);

    if (!rc)
        seep_gaussian_array_set(array, values);
    seep_stream_free(stream, rc ? values : old);
    return rc;
}

__attribute__((noinline)) int seep_gaussian_array_make(const struct seep_gaussian_array *array,
                                                       size_t n, struct seep_stream *stream,
                                                       void **values)
{
    int rc = seep_stream_alloc(stream, n * array->width * sizeof(float), values);

    /* Not a tail call: this frame must be in the stack, since the finding names it. */
    if (rc)
        *values = NULL;
    return rc;
}

size_t seep_gaussian_bytes(void)
{
    struct seep_gaussians none = {0};
    struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS];
    size_t floats = 0;

    seep_gaussian_arrays(&none, arrays);
    for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS; i++)
        floats += arrays[i].width;
    return floats * sizeof(float);
}

/* ---- from points ----------------------------------------------------------------------------- */

/* The first values of the arrays that have any; the others' are 0. */
static void fill_from_points(const struct seep_views *v, const float (*scales)[3],
                             const struct seep_gaussians *at,
                             const struct seep_gaussian_array *array, float *values)
{
    const struct seep_splat_parameters *p = &at->trained.parameters;
    const void *which = array->pointer;

    memset(values, 0, v->n_points * array->width * sizeof *values);
    for (size_t i = 0; i < v->n_points; i++) {
        float *row = values + i * array->width;
        for (int k = 0; k < 3 && which == (const void *)&p->means; k++)
            row[k] = v->points[i][k];
        for (int k = 0; k < 3 && which == (const void *)&p->log_scales; k++)
            row[k] = logf(scales[i][k]);
        for (int k = 0; k < 3 && which == (const void *)&p->sh; k++)
            row[k] = (float)((v->colors[i][k] / 255.0 - 0.5) / SEEP_SH_0);
        if (which == (const void *)&p->rotations)
            row[0] = 1;
        if (which == (const void *)&p->logits)
            row[0] = logf(0.1f / 0.9f);
    }
}

static int upload_points(const struct seep_views *v, struct seep_gaussians *g,
                         const struct seep_gaussian_array *arrays)
{
    float(*scales)[3] = malloc((v->n_points + 1) * sizeof *scales);
    float *values = malloc((v->n_points + 1) * SH_FLOATS * sizeof *values);
    int rc = scales && values ? 0 : -SEEP_ENOMEM;

    if (!rc)
        rc = seep_splat_scales((const float(*)[3])v->points, v->n_points, scales);
    for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS && !rc; i++) {
        fill_from_points(v, (const float(*)[3])scales, g, &arrays[i], values);
        rc = seep_stream_upload(g->stream, seep_gaussian_array_get(&arrays[i]), values,
                                v->n_points * arrays[i].width * sizeof *values);
    }
    free(scales);
    free(values);
    return rc;
}

int seep_gaussians_init(const struct seep_views *views, struct seep_stream *stream,
                        struct seep_gaussians *g)
{
    const struct seep_splat_rates rates = seep_splat_rates_of_paper(views->extent);
    struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS];
    int rc = 0;

    *g = (struct seep_gaussians){.n = views->n_points, .stream = stream};
    seep_gaussian_arrays(g, arrays);
    for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS && !rc; i++) {
        void *values = NULL;
        rc = seep_gaussian_array_make(&arrays[i], g->n, stream, &values);
        seep_gaussian_array_set(&arrays[i], values);
    }
    g->pull = calloc(g->n + 1, sizeof *g->pull);
    if (!rc && !g->pull)
        rc = -SEEP_ENOMEM;
    if (!rc)
        rc = upload_points(views, g, arrays);
    if (!rc)
        rc = seep_splat_adam(g->n, SEEP_GAUSSIAN_SH_STRIDE, NULL, &rates, 0, &g->trained, stream);
    if (rc)
        seep_gaussians_fini(g);
    return rc;
}

void seep_gaussians_fini(struct seep_gaussians *g)
{
    struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS];

    seep_gaussian_arrays(g, arrays);
    for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS && g->stream; i++)
        seep_stream_free(g->stream, seep_gaussian_array_get(&arrays[i]));
    free(g->pull);
    *g = (struct seep_gaussians){0};
}

struct seep_splat_model seep_gaussians_model(const struct seep_gaussians *g, int sh_degree)
{
    const struct seep_splat_trained *t = &g->trained;

    return (struct seep_splat_model){
        .n = g->n,
        .sh_degree = sh_degree,
        .sh_stride = SEEP_GAUSSIAN_SH_STRIDE,
        .means = (const float(*)[3])t->parameters.means,
        .scales = (const float(*)[3])t->scales,
        .rotations = (const float(*)[4])t->parameters.rotations,
        .opacities = t->opacities,
        .sh = t->parameters.sh,
    };
}
