#include "kernels/splat/splat_bench_room.h"

#include <string.h>

/* Allocates on the stream and counts; *status keeps the first error. */
static void *take(struct seep_splat_room *r, size_t n, size_t item_bytes, int *status)
{
    void *block = NULL;

    if (*status == 0)
        *status = seep_stream_alloc(r->stream, n * item_bytes, &block);
    if (*status == 0)
        r->bytes += n * item_bytes;
    return block;
}

static const void *copy(struct seep_splat_room *r, const void *from, size_t n, size_t item_bytes,
                        int *status)
{
    void *block = take(r, n, item_bytes, status);

    if (*status == 0 && n)
        *status = seep_stream_upload(r->stream, block, from, n * item_bytes);
    return block;
}

int seep_splat_room_init(struct seep_splat_room *r, struct seep_stream *stream,
                         const struct seep_splat_camera *camera,
                         const struct seep_splat_model *model)
{
    size_t n = model->n, sh = n * (size_t)model->sh_stride * 3;
    size_t pixels = (size_t)camera->width * (size_t)camera->height;
    size_t tiles = (((size_t)camera->width + 15) / 16) * (((size_t)camera->height + 15) / 16);
    int status = 0;

    *r = (struct seep_splat_room){.stream = stream, .camera = *camera, .model = *model};
    r->model.means = copy(r, model->means, n, sizeof *model->means, &status);
    r->model.scales = copy(r, model->scales, n, sizeof *model->scales, &status);
    r->model.rotations = copy(r, model->rotations, n, sizeof *model->rotations, &status);
    r->model.opacities = copy(r, model->opacities, n, sizeof *model->opacities, &status);
    r->model.sh = copy(r, model->sh, sh, sizeof *model->sh, &status);
    r->projected.prints = take(r, n, sizeof *r->projected.prints, &status);
    r->projected.offsets = take(r, n + 1, sizeof *r->projected.offsets, &status);
    r->bins.tile_start = take(r, tiles + 1, sizeof *r->bins.tile_start, &status);
    r->picture.image = take(r, pixels, 3 * sizeof(float), &status);
    r->picture.transmittance = take(r, pixels, sizeof(float), &status);
    r->picture.last = take(r, pixels, sizeof *r->picture.last, &status);
    r->image_grad = take(r, pixels, 3 * sizeof(float), &status);
    r->gradients.means = take(r, n, sizeof *r->gradients.means, &status);
    r->gradients.scales = take(r, n, sizeof *r->gradients.scales, &status);
    r->gradients.rotations = take(r, n, sizeof *r->gradients.rotations, &status);
    r->gradients.opacities = take(r, n, sizeof *r->gradients.opacities, &status);
    r->gradients.sh = take(r, sh, sizeof *r->gradients.sh, &status);
    r->gradients.means2d = take(r, n, sizeof *r->gradients.means2d, &status);
    return status;
}

void seep_splat_room_fini(struct seep_splat_room *r)
{
    const void *const blocks[] = {
        r->model.means,
        r->model.scales,
        r->model.rotations,
        r->model.opacities,
        r->model.sh,
        r->projected.prints,
        r->projected.offsets,
        r->bins.gaussians,
        r->bins.tile_start,
        r->picture.image,
        r->picture.transmittance,
        r->picture.last,
        r->image_grad,
        r->gradients.means,
        r->gradients.scales,
        r->gradients.rotations,
        r->gradients.opacities,
        r->gradients.sh,
        r->gradients.means2d,
        r->scratch,
    };

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        seep_stream_free(r->stream, (void *)(uintptr_t)blocks[i]);
}

/* A block of at least `bytes`, and more than asked for so that it seldom grows. */
static int grow(struct seep_splat_room *r, void **block, size_t *room, size_t n, size_t item_bytes)
{
    int status = 0;

    if (*block && *room >= n)
        return 0;
    seep_stream_free(r->stream, *block);
    r->bytes -= *block ? *room * item_bytes : 0;
    *room = n + n / 8 + 1;
    *block = take(r, *room, item_bytes, &status);
    return status;
}

static int grow_scratch(struct seep_splat_room *r, size_t bytes)
{
    return grow(r, &r->scratch, &r->scratch_bytes, bytes, 1);
}

int seep_splat_room_project(struct seep_splat_room *r)
{
    size_t bytes = 0;
    int status = seep_splat_project(&r->camera, &r->model, &r->projected, NULL, &bytes, r->stream);

    if (status == 0)
        status = grow_scratch(r, bytes);
    if (status == 0)
        status = seep_splat_project(&r->camera, &r->model, &r->projected, r->scratch,
                                    &r->scratch_bytes, r->stream);
    return status;
}

int seep_splat_room_bin(struct seep_splat_room *r)
{
    void *gaussians = r->bins.gaussians;
    size_t bytes = 0;
    int status = grow(r, &gaussians, &r->pairs_room, r->projected.n_pairs, sizeof(uint32_t));

    r->bins.gaussians = gaussians;
    if (status == 0)
        status = seep_splat_bin(&r->camera, r->model.n, &r->projected, &r->bins, NULL, &bytes,
                                r->stream);
    if (status == 0)
        status = grow_scratch(r, bytes);
    if (status == 0)
        status = seep_splat_bin(&r->camera, r->model.n, &r->projected, &r->bins, r->scratch,
                                &r->scratch_bytes, r->stream);
    return status;
}

int seep_splat_room_render(struct seep_splat_room *r)
{
    return seep_splat_render(&r->camera, &r->model, &r->projected, &r->bins, &r->picture,
                             r->stream);
}

int seep_splat_room_backward(struct seep_splat_room *r, const float *image_grad)
{
    size_t values = (size_t)r->camera.width * (size_t)r->camera.height * 3, bytes = 0;
    int status = 0;

    if (image_grad)
        status = seep_stream_upload(r->stream, r->image_grad, image_grad, values * sizeof(float));
    if (status == 0)
        status = seep_splat_backward(&r->camera, &r->model, &r->projected, &r->bins, &r->picture,
                                     r->image_grad, &r->gradients, NULL, &bytes, r->stream);
    if (status == 0)
        status = grow_scratch(r, bytes);
    if (status == 0)
        status = seep_splat_backward(&r->camera, &r->model, &r->projected, &r->bins, &r->picture,
                                     r->image_grad, &r->gradients, r->scratch, &r->scratch_bytes,
                                     r->stream);
    return status;
}

int seep_splat_room_forward(struct seep_splat_room *r, float *image)
{
    size_t values = (size_t)r->camera.width * (size_t)r->camera.height * 3;
    int status = seep_splat_room_project(r);

    if (status == 0)
        status = seep_splat_room_bin(r);
    if (status == 0)
        status = seep_splat_room_render(r);
    if (status == 0 && image)
        status = seep_stream_download(r->stream, image, r->picture.image, values * sizeof *image);
    return status;
}

int seep_splat_room_download(const struct seep_splat_room *r, const struct seep_splat_gradients *to)
{
    const struct seep_splat_gradients *from = &r->gradients;
    size_t n = r->model.n;
    const struct {
        void *to;
        const void *from;
        size_t bytes;
    } copies[] = {
        {to->means, from->means, n * sizeof *from->means},
        {to->scales, from->scales, n * sizeof *from->scales},
        {to->rotations, from->rotations, n * sizeof *from->rotations},
        {to->opacities, from->opacities, n * sizeof *from->opacities},
        {to->sh, from->sh, n * (size_t)r->model.sh_stride * 3 * sizeof *from->sh},
        {to->means2d, from->means2d, n * sizeof *from->means2d},
    };
    int status = 0;

    for (size_t i = 0; i < sizeof copies / sizeof *copies && status == 0; i++)
        if (copies[i].bytes)
            status = seep_stream_download(r->stream, copies[i].to, copies[i].from, copies[i].bytes);
    return status;
}
