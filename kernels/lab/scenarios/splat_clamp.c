/* Scales that make Gaussians cover the whole picture, and a bound that keeps them from it. */
#include "kernels/lab/scenarios/splat_gaussians.h"

#include <math.h>
#include <stdlib.h>

static int fetch(const struct seep_gaussians *g, const void *from, float **values)
{
    size_t bytes = 3 * g->n * sizeof **values;

    *values = malloc(bytes + 1);
    return *values ? seep_stream_download(g->stream, *values, from, bytes) : -SEEP_ENOMEM;
}

int seep_gaussians_largest_scale(const struct seep_gaussians *g, float *largest)
{
    float *scales = NULL;
    int rc = fetch(g, g->trained.scales, &scales);

    *largest = 0;
    for (size_t i = 0; i < 3 * g->n && !rc; i++) {
        if (scales[i] > *largest && isfinite(scales[i]))
            *largest = scales[i];
    }
    free(scales);
    return rc;
}

int seep_gaussians_mistake_scales(struct seep_gaussians *g)
{
    size_t n = 3 * g->n;
    float *scales = NULL;
    int rc = fetch(g, g->trained.scales, &scales);

    if (!rc)
        rc = seep_stream_upload(g->stream, g->trained.parameters.log_scales, scales,
                                n * sizeof *scales);
    for (size_t i = 0; i < n && !rc; i++)
        scales[i] = expf(scales[i]);
    if (!rc)
        rc = seep_stream_upload(g->stream, g->trained.scales, scales, n * sizeof *scales);
    free(scales);
    return rc;
}

static int clamp(const struct seep_gaussians *g, void *values, float most)
{
    float *list = NULL;
    bool changed = false;
    int rc = fetch(g, values, &list);

    for (size_t i = 0; i < 3 * g->n && !rc; i++) {
        if (list[i] > most) {
            list[i] = most;
            changed = true;
        }
    }
    if (!rc && changed)
        rc = seep_stream_upload(g->stream, values, list, 3 * g->n * sizeof *list);
    free(list);
    return rc;
}

int seep_gaussians_clamp_scales(struct seep_gaussians *g, float most)
{
    int rc = clamp(g, g->trained.parameters.log_scales, logf(most));

    return rc ? rc : clamp(g, g->trained.scales, most);
}
