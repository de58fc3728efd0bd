#include "kernels/splat/splat_garden.h"

#include "kernels/compute/chance.h"
#include "kernels/formats/npz.h"
#include "kernels/splat/splat_math.h"
#include "kernels/splat/splat_scales.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One array of the file with the shape [rows][a][b] (0: no such dimension) and items as said. */
static int read_array(const char *path, const char *name, char kind, unsigned item_bytes, size_t a,
                      size_t b, struct seep_npy *out, struct seep_error *err)
{
    unsigned n_dims = b > 0 ? 3 : a > 0 ? 2 : 0;
    int status = seep_npz_read(path, name, out, err);

    if (status)
        return status;
    if (out->kind == kind && out->item_bytes == item_bytes && out->n_dims == n_dims &&
        (a == 0 || out->shape[1] == a) && (b == 0 || out->shape[2] == b))
        return 0;
    free(out->values);
    out->values = NULL; /* callers free what they were given, after a failure too */
    return seep_error_set(err, SEEP_EFORMAT, path, 0, "array %s has the wrong type or shape", name);
}

static int read_side(const char *path, const char *name, int *out, struct seep_error *err)
{
    struct seep_npy side;
    int64_t value;
    int status = read_array(path, name, 'i', 8, 0, 0, &side, err);

    if (status)
        return status;
    memcpy(&value, side.values, sizeof value);
    free(side.values);
    if (value < 1 || value > 16384)
        return seep_error_set(err, SEEP_EFORMAT, path, 0, "%s out of range", name);
    *out = (int)value;
    return 0;
}

static int read_cameras(const char *path, struct seep_garden *g, struct seep_error *err)
{
    struct seep_npy views = {0}, k = {0};
    int width, height, status = read_array(path, "viewmats", 'f', 4, 4, 4, &views, err);

    if (status)
        return status;
    status = read_array(path, "Ks", 'f', 4, 3, 3, &k, err);
    if (status)
        goto fail;
    if (k.shape[0] != views.shape[0]) {
        status = seep_error_set(err, SEEP_EFORMAT, path, 0, "viewmats and Ks differ in number");
        goto fail;
    }
    if ((status = read_side(path, "width", &width, err)) ||
        (status = read_side(path, "height", &height, err)))
        goto fail;
    g->n_cameras = k.shape[0];
    g->cameras = calloc(g->n_cameras ? g->n_cameras : 1, sizeof *g->cameras);
    if (!g->cameras) {
        status = seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
        goto fail;
    }
    for (size_t i = 0; i < g->n_cameras; i++) {
        const float *m = (const float *)views.values + 16 * i, *c = (const float *)k.values + 9 * i;
        struct seep_splat_camera *to = &g->cameras[i];
        *to = (struct seep_splat_camera){
            .width = width, .height = height, .fx = c[0], .fy = c[4], .cx = c[2], .cy = c[5]};
        for (int row = 0; row < 3; row++) {
            memcpy(to->rotation[row], m + 4 * row, sizeof to->rotation[row]);
            to->translation[row] = m[4 * row + 3];
        }
    }
fail:
    free(views.values);
    free(k.values);
    return status;
}

/* Between −1 and 1. */
static float next_random(struct seep_chance *chance)
{
    return (float)(2 * seep_chance_uniform(chance) - 1);
}

/* What training would have found: opacities about 0.1 … 0.9, axes stretched by up to 2, any
 * rotation, colours that change a little with direction. */
static void make_up(struct seep_splat_host *h, const uint8_t *colors, uint64_t seed)
{
    size_t values = (size_t)h->model.sh_stride * 3;
    struct seep_chance chance = {seed};

    for (size_t i = 0; i < h->model.n; i++) {
        for (int k = 0; k < 3; k++)
            h->scales[i][k] *= exp2f(next_random(&chance));
        for (int k = 0; k < 4; k++)
            h->rotations[i][k] = next_random(&chance);
        h->rotations[i][0] += 1.5f;
        h->opacities[i] = 0.5f + 0.4f * next_random(&chance);
        for (size_t k = 0; k < values; k++)
            h->sh[i * values + k] = k < 3
                                        ? ((float)colors[3 * i + k] / 255 - 0.5f) / (float)SEEP_SH_0
                                        : 0.1f * next_random(&chance);
    }
}

static int read_points(const char *path, int sh_degree, uint64_t seed, struct seep_garden *g,
                       struct seep_error *err)
{
    struct seep_npy means = {0}, colors = {0};
    int status = read_array(path, "means3d", 'f', 4, 3, 0, &means, err);

    if (status)
        return status;
    status = read_array(path, "colors", 'u', 1, 3, 0, &colors, err);
    if (status)
        goto fail;
    if (colors.shape[0] != means.shape[0]) {
        status = seep_error_set(err, SEEP_EFORMAT, path, 0, "colors and means3d differ in number");
        goto fail;
    }
    for (size_t i = 0; i < means.n_items && status == 0; i++)
        if (!isfinite(((const float *)means.values)[i]))
            status = seep_error_set(err, SEEP_EFORMAT, path, 0, "a mean is not a number");
    if (status)
        goto fail;
    status = seep_splat_host_init(&g->host, means.shape[0], sh_degree);
    if (status == 0) {
        memcpy(g->host.means, means.values, g->host.model.n * sizeof *g->host.means);
        status = seep_splat_scales(g->host.model.means, g->host.model.n, g->host.scales);
    }
    if (status)
        status = seep_error_set(err, SEEP_ENOMEM, path, 0, "no memory");
    else
        make_up(&g->host, colors.values, seed);
fail:
    free(means.values);
    free(colors.values);
    return status;
}

int seep_garden_read(const char *path, int sh_degree, uint64_t seed, struct seep_garden *out,
                     struct seep_error *err)
{
    *out = (struct seep_garden){0};
    int status = read_points(path, sh_degree, seed, out, err);
    if (status == 0)
        status = read_cameras(path, out, err);
    if (status)
        seep_garden_free(out);
    return status;
}

void seep_garden_free(struct seep_garden *g)
{
    seep_splat_host_fini(&g->host);
    free(g->cameras);
    *g = (struct seep_garden){0};
}
