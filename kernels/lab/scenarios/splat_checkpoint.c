/* A model's trained state in a file: its number, then each array. */
#include "kernels/lab/scenarios/splat_gaussians.h"

#include <stdlib.h>

static const uint64_t most = UINT64_C(1) << 31; /* splat.h's */

/* One array through the host, to the file or from it. */
static int pass_array(const struct seep_gaussians *g, const struct seep_gaussian_array *array,
                      FILE *file, bool reads)
{
    size_t bytes = g->n * array->width * sizeof(float);
    void *device = seep_gaussian_array_get(array), *host = malloc(bytes + 1);
    int rc = host ? 0 : -SEEP_ENOMEM;

    if (!rc && !reads)
        rc = seep_stream_download(g->stream, host, device, bytes);
    if (!rc && (reads ? fread(host, 1, bytes, file) : fwrite(host, 1, bytes, file)) != bytes)
        rc = -SEEP_EIO;
    if (!rc && reads)
        rc = seep_stream_upload(g->stream, device, host, bytes);
    free(host);
    return rc;
}

int seep_gaussians_checkpoint(const struct seep_gaussians *g, FILE *file)
{
    struct seep_gaussians all = *g;
    struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS];
    uint64_t n = g->n;
    int rc = fwrite(&n, sizeof n, 1, file) == 1 ? 0 : -SEEP_EIO;

    seep_gaussian_arrays(&all, arrays);
    for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS && !rc; i++) {
        if (arrays[i].kind != SEEP_GAUSSIAN_SCRATCH)
            rc = pass_array(&all, &arrays[i], file, false);
    }
    return !rc && fflush(file) ? -SEEP_EIO : rc;
}

int seep_gaussians_restore(FILE *file, struct seep_stream *stream, struct seep_gaussians *g)
{
    struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS];
    uint64_t n = 0;
    int rc = 0;

    *g = (struct seep_gaussians){.stream = stream};
    if (fread(&n, sizeof n, 1, file) != 1 || n >= most)
        return -SEEP_EIO;
    g->n = n;
    seep_gaussian_arrays(g, arrays);
    for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS && !rc; i++) {
        void *values = NULL;
        rc = seep_gaussian_array_make(&arrays[i], g->n, stream, &values);
        seep_gaussian_array_set(&arrays[i], values);
        if (!rc && arrays[i].kind != SEEP_GAUSSIAN_SCRATCH)
            rc = pass_array(g, &arrays[i], file, true);
    }
    g->pull = calloc(g->n + 1, sizeof *g->pull);
    if (!rc && !g->pull)
        rc = -SEEP_ENOMEM;
    if (rc)
        seep_gaussians_fini(g);
    return rc;
}
