/* Opacities are reset now and then, so that what is not needed becomes transparent, and goes. */
#include "kernels/lab/scenarios/splat_gaussians.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const float reset_opacity = 0.01f;

/* Values of the array above `most` become it; with `zero`, all become 0. */
static int rewrite(const struct seep_gaussians *g, float *array, float most, bool zero)
{
    float *values = calloc(g->n + 1, sizeof *values);
    int rc = values ? 0 : -SEEP_ENOMEM;

    if (!rc && !zero)
        rc = seep_stream_download(g->stream, values, array, g->n * sizeof *values);
    for (size_t i = 0; i < g->n && !rc && !zero; i++)
        values[i] = fminf(values[i], most);
    if (!rc)
        rc = seep_stream_upload(g->stream, array, values, g->n * sizeof *values);
    free(values);
    return rc;
}

int seep_gaussians_reset_opacities(struct seep_gaussians *g)
{
    struct seep_splat_trained *t = &g->trained;
    int rc = rewrite(g, t->parameters.logits, logf(reset_opacity / (1 - reset_opacity)), false);

    if (!rc)
        rc = rewrite(g, t->opacities, reset_opacity, false);
    if (!rc)
        rc = rewrite(g, t->first.logits, 0, true);
    return rc ? rc : rewrite(g, t->second.logits, 0, true);
}

/* ---- prune ----------------------------------------------------------------------------------- */

/* Rows of those that stay, through the host. */
static int copy_kept(const struct seep_gaussians *g, const struct seep_gaussian_array *array,
                     const uint32_t *kept, size_t n_kept, float *to)
{
    size_t width = array->width;
    float *rows = malloc((g->n * width + 1) * sizeof *rows);
    int rc = rows ? 0 : -SEEP_ENOMEM;

    if (!rc)
        rc = seep_stream_download(g->stream, rows, seep_gaussian_array_get(array),
                                  g->n * width * sizeof *rows);
    for (size_t i = 0; i < n_kept && !rc; i++)
        memmove(rows + i * width, rows + kept[i] * width, width * sizeof *rows);
    if (!rc)
        rc = seep_stream_upload(g->stream, to, rows, n_kept * width * sizeof *rows);
    free(rows);
    return rc;
}

static int keep_rows(struct seep_gaussians *g, const struct seep_gaussian_array *array,
                     const uint32_t *kept, size_t n_kept)
{
    void *values;
    int rc = seep_gaussian_array_make(array, n_kept, g->stream, &values);

    if (!rc && array->kind != SEEP_GAUSSIAN_SCRATCH)
        rc = copy_kept(g, array, kept, n_kept, values);
    return seep_gaussian_array_settle(array, rc, g->stream, values);
}

/* Indices of those that stay. */
static int choose(const struct seep_gaussians *g, float least, uint32_t *kept, size_t *n_kept)
{
    float *opacities = malloc((g->n + 1) * sizeof *opacities);
    int rc = opacities ? 0 : -SEEP_ENOMEM;

    *n_kept = 0;
    if (!rc)
        rc = seep_stream_download(g->stream, opacities, g->trained.opacities,
                                  g->n * sizeof *opacities);
    for (size_t i = 0; i < g->n && !rc; i++) {
        if (!(opacities[i] < least))
            kept[(*n_kept)++] = (uint32_t)i;
    }
    free(opacities);
    return rc;
}

int seep_gaussians_prune(struct seep_gaussians *g, float least, size_t *n_pruned)
{
    struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS];
    uint32_t *kept = malloc((g->n + 1) * sizeof *kept);
    size_t n_kept = 0;
    int rc = kept ? choose(g, least, kept, &n_kept) : -SEEP_ENOMEM;

    *n_pruned = 0;
    if (!rc && n_kept && n_kept < g->n) {
        seep_gaussian_arrays(g, arrays);
        for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS && !rc; i++)
            rc = keep_rows(g, &arrays[i], kept, n_kept);
        for (size_t i = 0; i < n_kept && !rc; i++)
            g->pull[i] = g->pull[kept[i]];
        if (!rc) {
            *n_pruned = g->n - n_kept;
            g->n = n_kept;
        }
    }
    free(kept);
    return rc;
}
