/* A picture of the Gaussians and the way back from its loss, with what has to be kept in between:
 * what 3D Gaussian Splatting calls the render package. */
#ifndef SEEP_KERNELS_SPLAT_PASS_H
#define SEEP_KERNELS_SPLAT_PASS_H

#include "kernels/splat/splat.h"
#include "kernels/splat/splat_loss.h"

struct seep_splat_pass {
    struct seep_stream *stream; /* NULL: holds nothing */
    struct seep_splat_camera camera;
    struct seep_splat_projected projected;
    struct seep_splat_bins bins;
    struct seep_splat_picture picture;
    float *image_grad;
    double ssim;           /* NAN where it was not computed */
    size_t gaussian_bytes; /* of what it holds, those that go by Gaussians and pairs */
    size_t scratch_bytes; /* most that a call needed for its own time, by Gaussians and pairs … */
    size_t ssim_bytes;    /* … and that SSIM needed, by pixels */
};

/* Tiles of its picture. */
size_t seep_splat_tiles(const struct seep_splat_camera *camera);

/* Renders. Allocates, on the stream's device: what *pass holds; free with _fini(), after failures
 * too. 0, -SEEP_EINVAL, -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_splat_pass_forward(const struct seep_splat_camera *camera,
                                            const struct seep_splat_model *model,
                                            struct seep_stream *stream,
                                            struct seep_splat_pass *pass);

/* How far the picture is from `target` ([height][width][3] on the device), and in pass->ssim how
 * alike they look; with the gradient that _backward() needs, where that is wanted: of 0.8 L1 + 0.2
 * D-SSIM as in Kerbl et al. On a GPU, of L1 alone: there is no SSIM on it. */
SEEP_MUST_CHECK int seep_splat_pass_loss(struct seep_splat_pass *pass, const float *target,
                                         bool with_gradient, struct seep_splat_loss *loss);
SEEP_MUST_CHECK int seep_splat_pass_backward(struct seep_splat_pass *pass,
                                             const struct seep_splat_model *model,
                                             struct seep_splat_gradients *gradients);
void seep_splat_pass_fini(struct seep_splat_pass *pass);

#endif
