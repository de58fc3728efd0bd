#include "kernels/lab/scenarios/splat_save.h"

#include "kernels/formats/byte_file.h"
#include "kernels/formats/gaussian_ply.h"

#include <stdlib.h>

int seep_gaussians_can_save(const char *path, struct seep_error *err)
{
    struct seep_file_writer writer;
    int rc = seep_file_writer_open(&writer, path, err);

    if (!rc)
        seep_file_writer_cancel(&writer);
    return rc;
}

/* The rows of an array in host memory; NULL: not to be had, why in *rc. */
static void *fetch(const struct seep_gaussians *g, const void *from, size_t width, int *rc)
{
    const size_t bytes = g->n * width * sizeof(float);
    void *to = *rc ? NULL : malloc(bytes + 1);

    if (*rc)
        return NULL;
    *rc = to ? seep_stream_download(g->stream, to, from, bytes) : -SEEP_ENOMEM;
    return to;
}

int seep_gaussians_save(const struct seep_gaussians *g, const char *path, struct seep_error *err)
{
    const struct seep_splat_parameters *p = &g->trained.parameters;
    struct seep_splat_parameters host;
    int rc = 0;

    host.means = fetch(g, p->means, 3, &rc);
    host.log_scales = fetch(g, p->log_scales, 3, &rc);
    host.rotations = fetch(g, p->rotations, 4, &rc);
    host.logits = fetch(g, p->logits, 1, &rc);
    host.sh = fetch(g, p->sh, (size_t)(3 * SEEP_GAUSSIAN_SH_STRIDE), &rc);
    if (rc)
        rc = seep_error_set(err, -rc, path, 0, "%s", seep_error_name(rc));
    else
        rc = seep_gaussian_ply_write(path, g->n, SEEP_SPLAT_MAX_SH_DEGREE, SEEP_GAUSSIAN_SH_STRIDE,
                                     &host, err);
    free(host.means);
    free(host.log_scales);
    free(host.rotations);
    free(host.logits);
    free(host.sh);
    return rc;
}
