#include "kernels/lab/scenarios/splat_seen.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* Values of a Gaussian that Adam steps: each is read with its gradient and two moments, and written
 * with the moments. Scales and opacity are read and written besides. */
enum { VALUES = 3 + 3 + 4 + 1 + 3 * SEEP_GAUSSIAN_SH_STRIDE, OUT_VALUES = 3 + 1 };

double seep_gaussians_adam_bytes(double n)
{
    return n * (7 * VALUES + 2 * OUT_VALUES) * (double)sizeof(float);
}

double seep_gaussians_adam_seen_bytes(double n_seen, double n)
{
    return seep_gaussians_adam_bytes(n_seen) + n * 2 * (double)sizeof(uint32_t);
}

/* Adds one array's rows to the Gaussians' hashes: FNV, by words. */
static int hash_array(const struct seep_gaussians *g, const struct seep_gaussian_array *array,
                      uint64_t *hashes)
{
    size_t bytes = g->n * array->width * sizeof(uint32_t);
    uint32_t *words = malloc(bytes + 1);
    int rc = words ? 0 : -SEEP_ENOMEM;

    if (!rc)
        rc = seep_stream_download(g->stream, words, seep_gaussian_array_get(array), bytes);
    for (size_t k = 0; k < g->n * array->width && !rc; k++)
        hashes[k / array->width] = (hashes[k / array->width] ^ words[k]) * UINT64_C(0x100000001b3);
    free(words);
    return rc;
}

/* *hashes: of all that is trained, by Gaussian; freed by the caller, after failures too. */
static int hash(const struct seep_gaussians *g, uint64_t **hashes)
{
    struct seep_gaussians all = *g;
    struct seep_gaussian_array arrays[SEEP_GAUSSIAN_ARRAYS];
    int rc = 0;

    *hashes = malloc((g->n + 1) * sizeof **hashes);
    if (!*hashes)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < g->n; i++)
        (*hashes)[i] = UINT64_C(0xcbf29ce484222325);
    seep_gaussian_arrays(&all, arrays);
    for (int i = 0; i < SEEP_GAUSSIAN_ARRAYS && !rc; i++) {
        if (arrays[i].kind != SEEP_GAUSSIAN_SCRATCH)
            rc = hash_array(&all, &arrays[i], *hashes);
    }
    return rc;
}

/* What the step of all would make of them. */
static int hash_dense(const struct seep_gaussians *g, const struct seep_splat_rates *rates,
                      unsigned step, uint64_t **hashes)
{
    struct seep_gaussians dense;
    FILE *file = tmpfile();
    int rc = file ? seep_gaussians_checkpoint(g, file) : -SEEP_EIO;

    if (!rc) {
        rewind(file);
        rc = seep_gaussians_restore(file, g->stream, &dense);
    }
    if (file)
        (void)fclose(file);
    if (rc)
        return rc;
    rc = seep_splat_adam(dense.n, SEEP_GAUSSIAN_SH_STRIDE, &g->gradients, rates, step,
                         &dense.trained, g->stream);
    if (!rc)
        rc = hash(&dense, hashes);
    seep_gaussians_fini(&dense);
    return rc;
}

int seep_gaussians_check_seen(struct seep_gaussians *g, const struct seep_splat_rates *rates,
                              unsigned step, const uint32_t *offsets, struct seep_seen_check *out)
{
    uint64_t *before = NULL, *dense = NULL, *after = NULL;
    uint32_t *tiles = malloc((g->n + 1) * sizeof *tiles);
    int rc = tiles ? hash(g, &before) : -SEEP_ENOMEM;

    memset(out, 0, sizeof *out);
    if (!rc)
        rc = seep_stream_download(g->stream, tiles, offsets, (g->n + 1) * sizeof *tiles);
    if (!rc)
        rc = hash_dense(g, rates, step, &dense);
    if (!rc)
        rc = seep_splat_adam_seen(g->n, SEEP_GAUSSIAN_SH_STRIDE, &g->gradients, rates, step,
                                  offsets, &g->trained, g->stream);
    if (!rc)
        rc = hash(g, &after);
    for (size_t i = 0; i < g->n && !rc; i++) {
        bool seen = tiles[i + 1] != tiles[i];
        out->n_seen += seen;
        out->apart += seen && after[i] != dense[i];
        out->moved += !seen && after[i] != before[i];
    }
    free(tiles);
    free(before);
    free(dense);
    free(after);
    return rc;
}
