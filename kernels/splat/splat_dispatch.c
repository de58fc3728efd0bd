/* Checks, once, everything that the twins may rely on. */
#include "kernels/splat/splat.h"

#include "kernels/compute/scratch.h"
#include "kernels/splat/splat_twins.h"

#include <math.h>

enum { MAX_SIDE = 16384 };

#ifdef SEEP_WITH_CUDA
#define TWIN(stream, name)                                                                         \
    (seep_stream_device(stream) == SEEP_DEVICE_CUDA ? seep_splat_##name##_cuda                     \
                                                    : seep_splat_##name##_cpu)
#else
#define TWIN(stream, name) seep_splat_##name##_cpu
#endif

static bool all_finite(const float *values, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static bool camera_good(const struct seep_splat_camera *c)
{
    return c && c->width >= 1 && c->width <= MAX_SIDE && c->height >= 1 && c->height <= MAX_SIDE &&
           isfinite(c->fx) && c->fx > 0 && isfinite(c->fy) && c->fy > 0 && isfinite(c->cx) &&
           isfinite(c->cy) && all_finite(c->rotation[0], 9) && all_finite(c->translation, 3) &&
           all_finite(c->background, 3);
}

static bool model_good(const struct seep_splat_model *m)
{
    if (!m || m->n >= (size_t)1 << 31 || m->sh_degree < 0 ||
        m->sh_degree > SEEP_SPLAT_MAX_SH_DEGREE || m->sh_stride > 1 << 10 ||
        m->sh_stride < (m->sh_degree + 1) * (m->sh_degree + 1))
        return false;
    return m->n == 0 || (m->means && m->scales && m->rotations && m->opacities && m->sh);
}

static bool projected_good(const struct seep_splat_projected *p, size_t n)
{
    return p && p->offsets && (unsigned)p->rule < SEEP_SPLAT_TILE_RULES &&
           (n == 0 || (p->prints && (uintptr_t)p->prints % 16 == 0));
}

static bool bins_good(const struct seep_splat_bins *b, size_t n_pairs)
{
    return b && b->tile_start && n_pairs <= UINT32_MAX && (n_pairs == 0 || b->gaussians);
}

static bool picture_good(const struct seep_splat_picture *p)
{
    return p && p->image && p->transmittance && p->last;
}

int seep_splat_project(const struct seep_splat_camera *camera, const struct seep_splat_model *model,
                       struct seep_splat_projected *out, void *scratch, size_t *scratch_bytes,
                       struct seep_stream *stream)
{
    if (!stream || !scratch_bytes || !camera_good(camera) || !model_good(model) || !out)
        return -SEEP_EINVAL;
    if (!seep_scratch_aligned(stream, scratch) || (scratch && !projected_good(out, model->n)))
        return -SEEP_EINVAL;
    return TWIN(stream, project)(camera, model, out, scratch, scratch_bytes, stream);
}

int seep_splat_bin(const struct seep_splat_camera *camera, size_t n,
                   const struct seep_splat_projected *projected, struct seep_splat_bins *bins,
                   void *scratch, size_t *scratch_bytes, struct seep_stream *stream)
{
    if (!stream || !scratch_bytes || !camera_good(camera) || n >= (size_t)1 << 31 || !projected)
        return -SEEP_EINVAL;
    if (!seep_scratch_aligned(stream, scratch))
        return -SEEP_EINVAL;
    if (projected->n_seen > n ||
        (scratch && (!projected_good(projected, n) || !bins_good(bins, projected->n_pairs))))
        return -SEEP_EINVAL;
    return TWIN(stream, bin)(camera, n, projected, bins, scratch, scratch_bytes, stream);
}

int seep_splat_render(const struct seep_splat_camera *camera, const struct seep_splat_model *model,
                      const struct seep_splat_projected *projected,
                      const struct seep_splat_bins *bins, struct seep_splat_picture *out,
                      struct seep_stream *stream)
{
    if (!stream || !camera_good(camera) || !model_good(model) ||
        !projected_good(projected, model->n) || !bins_good(bins, projected->n_pairs) ||
        !picture_good(out))
        return -SEEP_EINVAL;
    return TWIN(stream, render)(camera, model, projected, bins, out, stream);
}

int seep_splat_backward(const struct seep_splat_camera *camera,
                        const struct seep_splat_model *model,
                        const struct seep_splat_projected *projected,
                        const struct seep_splat_bins *bins,
                        const struct seep_splat_picture *picture, const float *image_grad,
                        struct seep_splat_gradients *out, void *scratch, size_t *scratch_bytes,
                        struct seep_stream *stream)
{
    if (!stream || !scratch_bytes || !camera_good(camera) || !model_good(model) || !projected)
        return -SEEP_EINVAL;
    if (!seep_scratch_aligned(stream, scratch))
        return -SEEP_EINVAL;
    if (scratch && (!projected_good(projected, model->n) || !bins_good(bins, projected->n_pairs) ||
                    !picture_good(picture) || !image_grad || !out ||
                    (model->n && (!out->means || !out->scales || !out->rotations ||
                                  !out->opacities || !out->sh))))
        return -SEEP_EINVAL;
    return TWIN(stream, backward)(camera, model, projected, bins, picture, image_grad, out, scratch,
                                  scratch_bytes, stream);
}

int seep_splat_loss(const float *image, const float *target, size_t n_values, float *image_grad,
                    struct seep_splat_loss *out, void *scratch, size_t *scratch_bytes,
                    struct seep_stream *stream)
{
    if (!stream || !scratch_bytes || !seep_scratch_aligned(stream, scratch) || !out ||
        (scratch && n_values && (!image || !target)))
        return -SEEP_EINVAL;
    return TWIN(stream, loss)(image, target, n_values, image_grad, out, scratch, scratch_bytes,
                              stream);
}

int seep_splat_ssim(const float *image, const float *target, int width, int height, float weight,
                    float *image_grad, double *ssim, void *scratch, size_t *scratch_bytes,
                    struct seep_stream *stream)
{
    if (!stream || !scratch_bytes || !seep_scratch_aligned(stream, scratch) || width < 1 ||
        height < 1 || width > MAX_SIDE || height > MAX_SIDE ||
        (scratch && (!image || !target || !ssim)))
        return -SEEP_EINVAL;
    return TWIN(stream, ssim)(image, target, width, height, weight, image_grad, ssim, scratch,
                              scratch_bytes, stream);
}

struct seep_splat_rates seep_splat_rates_of_paper(float extent)
{
    return (struct seep_splat_rates){.means = 1.6e-4f * extent,
                                     .log_scales = 5e-3f,
                                     .rotations = 1e-3f,
                                     .logits = 5e-2f,
                                     .sh_first = 2.5e-3f,
                                     .sh_rest = 2.5e-3f / 20};
}

static bool parameters_good(const struct seep_splat_parameters *p)
{
    return p->means && p->log_scales && p->rotations && p->logits && p->sh;
}

/*   offsets  NULL: all Gaussians are stepped */
static int step_adam(size_t n, int sh_stride, const struct seep_splat_gradients *gradients,
                     const struct seep_splat_rates *rates, unsigned step, const uint32_t *offsets,
                     struct seep_splat_trained *trained, struct seep_stream *stream)
{
    if (!stream || n >= (size_t)1 << 31 || sh_stride < 1 || sh_stride > 1 << 10 || !trained)
        return -SEEP_EINVAL;
    if (n == 0)
        return 0;
    if (!parameters_good(&trained->parameters) || !parameters_good(&trained->first) ||
        !parameters_good(&trained->second) || !trained->scales || !trained->opacities)
        return -SEEP_EINVAL;
    if (step && (!rates || !gradients || !gradients->means || !gradients->scales ||
                 !gradients->rotations || !gradients->opacities || !gradients->sh))
        return -SEEP_EINVAL;
    return TWIN(stream, adam)(n, sh_stride, gradients, rates, step, offsets, trained, stream);
}

int seep_splat_adam(size_t n, int sh_stride, const struct seep_splat_gradients *gradients,
                    const struct seep_splat_rates *rates, unsigned step,
                    struct seep_splat_trained *trained, struct seep_stream *stream)
{
    return step_adam(n, sh_stride, gradients, rates, step, NULL, trained, stream);
}

int seep_splat_adam_seen(size_t n, int sh_stride, const struct seep_splat_gradients *gradients,
                         const struct seep_splat_rates *rates, unsigned step,
                         const uint32_t *offsets, struct seep_splat_trained *trained,
                         struct seep_stream *stream)
{
    if (!offsets)
        return -SEEP_EINVAL;
    return step_adam(n, sh_stride, gradients, rates, step, offsets, trained, stream);
}
