#include "kernels/lab/scenarios/splat_pass.h"

#include "kernels/splat/splat_ssim.h"

#include <math.h>

static size_t n_pixels(const struct seep_splat_pass *pass)
{
    return (size_t)pass->camera.width * (size_t)pass->camera.height;
}

size_t seep_splat_tiles(const struct seep_splat_camera *camera)
{
    size_t across = ((size_t)camera->width + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE;
    size_t down = ((size_t)camera->height + SEEP_SPLAT_TILE - 1) / SEEP_SPLAT_TILE;

    return across * down;
}

/* Room for what a call said it needs. */
static int take_scratch(struct seep_splat_pass *pass, size_t bytes, void **scratch)
{
    if (bytes > pass->scratch_bytes)
        pass->scratch_bytes = bytes;
    return seep_stream_alloc(pass->stream, bytes, scratch);
}

/* [n] of each Gaussian: one block an array, as tensors are. */
static int make_projected(struct seep_splat_pass *pass, size_t n)
{
    struct seep_splat_projected *p = &pass->projected;
    void *prints = NULL, *offsets = NULL;
    struct {
        void **values;
        size_t bytes;
    } arrays[] = {{&prints, n * sizeof *p->prints}, {&offsets, (n + 1) * sizeof *p->offsets}};
    int rc = 0;

    for (size_t i = 0; i < sizeof arrays / sizeof *arrays && !rc; i++) {
        rc = seep_stream_alloc(pass->stream, arrays[i].bytes, arrays[i].values);
        pass->gaussian_bytes += arrays[i].bytes;
    }
    *p = (struct seep_splat_projected){.prints = prints, .offsets = offsets};
    return rc;
}

static int project(struct seep_splat_pass *pass, const struct seep_splat_model *model)
{
    void *scratch = NULL;
    size_t bytes = 0;
    int rc = make_projected(pass, model->n);

    if (!rc)
        rc = seep_splat_project(&pass->camera, model, &pass->projected, NULL, &bytes, pass->stream);
    if (!rc)
        rc = take_scratch(pass, bytes, &scratch);
    if (!rc)
        rc = seep_splat_project(&pass->camera, model, &pass->projected, scratch, &bytes,
                                pass->stream);
    seep_stream_free(pass->stream, scratch);
    return rc;
}

static int bin(struct seep_splat_pass *pass, size_t n)
{
    size_t pairs = pass->projected.n_pairs, bytes = 0;
    void *gaussians = NULL, *starts = NULL, *scratch = NULL;
    int rc = seep_stream_alloc(pass->stream, pairs * sizeof(uint32_t), &gaussians);

    pass->bins.gaussians = gaussians;
    pass->gaussian_bytes += pairs * sizeof(uint32_t);
    if (!rc)
        rc = seep_stream_alloc(pass->stream,
                               (seep_splat_tiles(&pass->camera) + 1) * sizeof(uint32_t), &starts);
    pass->bins.tile_start = starts;
    if (!rc)
        rc = seep_splat_bin(&pass->camera, n, &pass->projected, &pass->bins, NULL, &bytes,
                            pass->stream);
    if (!rc)
        rc = take_scratch(pass, bytes, &scratch);
    if (!rc)
        rc = seep_splat_bin(&pass->camera, n, &pass->projected, &pass->bins, scratch, &bytes,
                            pass->stream);
    seep_stream_free(pass->stream, scratch);
    return rc;
}

static int render(struct seep_splat_pass *pass, const struct seep_splat_model *model)
{
    void *image = NULL, *transmittance = NULL, *last = NULL;
    int rc = seep_stream_alloc(pass->stream, n_pixels(pass) * 3 * sizeof(float), &image);

    if (!rc)
        rc = seep_stream_alloc(pass->stream, n_pixels(pass) * sizeof(float), &transmittance);
    if (!rc)
        rc = seep_stream_alloc(pass->stream, n_pixels(pass) * sizeof(uint32_t), &last);
    pass->picture = (struct seep_splat_picture){image, transmittance, last};
    if (!rc)
        rc = seep_splat_render(&pass->camera, model, &pass->projected, &pass->bins, &pass->picture,
                               pass->stream);
    return rc;
}

int seep_splat_pass_forward(const struct seep_splat_camera *camera,
                            const struct seep_splat_model *model, struct seep_stream *stream,
                            struct seep_splat_pass *pass)
{
    *pass = (struct seep_splat_pass){.stream = stream, .camera = *camera};
    int rc = project(pass, model);

    if (!rc)
        rc = bin(pass, model->n);
    if (!rc)
        rc = render(pass, model);
    return rc;
}

static const float ssim_weight = 0.2f; /* lambda of Kerbl et al. */

static int add_ssim(struct seep_splat_pass *pass, const float *target, float *gradient)
{
    const struct seep_splat_camera *c = &pass->camera;
    void *scratch = NULL;
    size_t bytes = 0;

    int rc = seep_splat_ssim(pass->picture.image, target, c->width, c->height, ssim_weight,
                             gradient, &pass->ssim, NULL, &bytes, pass->stream);
    if (!rc)
        rc = seep_stream_alloc(pass->stream, bytes, &scratch);
    if (!rc)
        rc = seep_splat_ssim(pass->picture.image, target, c->width, c->height, ssim_weight,
                             gradient, &pass->ssim, scratch, &bytes, pass->stream);
    seep_stream_free(pass->stream, scratch);
    pass->ssim_bytes = bytes;
    return rc;
}

int seep_splat_pass_loss(struct seep_splat_pass *pass, const float *target, bool with_gradient,
                         struct seep_splat_loss *loss)
{
    size_t n = n_pixels(pass) * 3, bytes = 0;
    void *gradient = NULL, *scratch = NULL;
    int rc = 0;

    if (with_gradient && !pass->image_grad)
        rc = seep_stream_alloc(pass->stream, n * sizeof(float), &gradient);
    if (gradient)
        pass->image_grad = gradient;
    float *into = with_gradient ? pass->image_grad : NULL;
    if (!rc)
        rc =
            seep_splat_loss(pass->picture.image, target, n, into, loss, NULL, &bytes, pass->stream);
    if (!rc)
        rc = take_scratch(pass, bytes, &scratch);
    if (!rc)
        rc = seep_splat_loss(pass->picture.image, target, n, into, loss, scratch, &bytes,
                             pass->stream);
    seep_stream_free(pass->stream, scratch);
    return rc ? rc : add_ssim(pass, target, into);
}

int seep_splat_pass_backward(struct seep_splat_pass *pass, const struct seep_splat_model *model,
                             struct seep_splat_gradients *gradients)
{
    void *scratch = NULL;
    size_t bytes = 0;
    int rc =
        seep_splat_backward(&pass->camera, model, &pass->projected, &pass->bins, &pass->picture,
                            pass->image_grad, gradients, NULL, &bytes, pass->stream);

    if (!rc)
        rc = take_scratch(pass, bytes, &scratch);
    if (!rc)
        rc =
            seep_splat_backward(&pass->camera, model, &pass->projected, &pass->bins, &pass->picture,
                                pass->image_grad, gradients, scratch, &bytes, pass->stream);
    seep_stream_free(pass->stream, scratch);
    return rc;
}

void seep_splat_pass_fini(struct seep_splat_pass *pass)
{
    void *const blocks[] = {
        pass->projected.prints, pass->projected.offsets, pass->bins.gaussians,
        pass->bins.tile_start,  pass->picture.image,     pass->picture.transmittance,
        pass->picture.last,     pass->image_grad,
    };

    for (size_t i = 0; i < sizeof blocks / sizeof *blocks && pass->stream; i++)
        seep_stream_free(pass->stream, blocks[i]);
    *pass = (struct seep_splat_pass){0};
}
