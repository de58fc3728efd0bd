/* The twins behind splat.h, splat_loss.h, splat_ssim.h and splat_adam.h. The dispatcher has checked
 * all arguments: a twin sees no NULL except for scratch (and gradients' means2d), and no camera or
 * count out of bounds. Both twins and the double-precision reference compute what is written below.
 * The reference uses the textbook's formulas, which are the same in exact arithmetic, and omits the
 * bounds by e, which change lists but not the picture: there hx = hy = r. */
#ifndef SEEP_KERNELS_SPLAT_TWINS_H
#define SEEP_KERNELS_SPLAT_TWINS_H

#include "kernels/splat/splat.h"
#include "kernels/splat/splat_adam.h"
#include "kernels/splat/splat_loss.h"
#include "kernels/splat/splat_ssim.h"

#ifdef __cplusplus
extern "C" {
#endif

/* clang-format off */
/* Forward, in this order:
 *
 *   p = R mean + t; depth = (float)p.z with p in double; culled unless depth > 0.2
 *   M = J W R(q / |q|) diag(scale) of two rows m1, m2, where W is the camera's R and
 *       J = [fx/z 0 −fx tx/z; 0 fy/z −fy ty/z], tx = clamp(x/z, ±1.3 width / 2 fx), ty alike
 *   A = |m1|² + 0.3, B = m1·m2, C = |m2|² + 0.3
 *   det = |m1 × m2|² + 0.3 (|m1|² + |m2|²) + 0.09   (Cauchy and Binet; AC − B² would cancel)
 *   roots: k = sqrt(log2(e) / 2); a = k sqrt(C / det), b = −a B / C, c = k / sqrt(C)
 *   mean2d = fx x/z + cx, fy y/z + cy
 *   extent: r = 3 sqrt(larger eigenvalue of [A B; B C]), which is (A + C)/2 + sqrt((A − C)²/4 + B²);
 *       e = 2 ln(255 opacity), culled unless > 0; hx = min(r, sqrt(e A)), hy = min(r, sqrt(e C)).
 *       The second bound excludes only pixels whose alpha is under 1/255
 *   tiles: those with a pixel centre of the picture in mean2d ± (hx, hy), ends included;
 *       culled if there are none. That is SEEP_SPLAT_TILES_BOX; the other rules: splat_tiles.h
 *   direction = (mean − camera's centre) / its length, the centre −Rᵀt; length 0: (0, 0, 1)
 *   color = max(0, 0.5 + sum sh Y(direction))
 *   culled if opacity, depth, mean2d, roots or color (before max) are not finite
 *   blend, in order of (depth, index): alpha = min(0.99, opacity 2^−(u² + v²)); if < 1/255: next;
 *       if T (1 − alpha) < 1e-4: stop; image += color alpha T; T *= 1 − alpha
 *   image += background T
 *
 * Backward, w = dL/dalpha · alpha (0 if alpha was cut to 0.99), sums over the Gaussian's pixels:
 *
 *   opacity' = Σw / opacity; mean2d' = 2 ln2 (a Σwu, b Σwu + c² Σw dy)
 *   a' = −2 ln2 Σwu dx; b' = −2 ln2 Σwu dy; c' = −2 ln2 c Σw dy²
 *   tx and ty are constants if clamped */
/* clang-format on */

#define SEEP_SPLAT_TWIN(suffix)                                                                    \
    SEEP_MUST_CHECK int seep_splat_project_##suffix(                                               \
        const struct seep_splat_camera *camera, const struct seep_splat_model *model,              \
        struct seep_splat_projected *out, void *scratch, size_t *scratch_bytes,                    \
        struct seep_stream *stream);                                                               \
    SEEP_MUST_CHECK int seep_splat_bin_##suffix(                                                   \
        const struct seep_splat_camera *camera, size_t n,                                          \
        const struct seep_splat_projected *projected, struct seep_splat_bins *bins, void *scratch, \
        size_t *scratch_bytes, struct seep_stream *stream);                                        \
    SEEP_MUST_CHECK int seep_splat_render_##suffix(                                                \
        const struct seep_splat_camera *camera, const struct seep_splat_model *model,              \
        const struct seep_splat_projected *projected, const struct seep_splat_bins *bins,          \
        struct seep_splat_picture *out, struct seep_stream *stream);                               \
    SEEP_MUST_CHECK int seep_splat_backward_##suffix(                                              \
        const struct seep_splat_camera *camera, const struct seep_splat_model *model,              \
        const struct seep_splat_projected *projected, const struct seep_splat_bins *bins,          \
        const struct seep_splat_picture *picture, const float *image_grad,                         \
        struct seep_splat_gradients *out, void *scratch, size_t *scratch_bytes,                    \
        struct seep_stream *stream);                                                               \
    SEEP_MUST_CHECK int seep_splat_loss_##suffix(                                                  \
        const float *image, const float *target, size_t n_values, float *image_grad,               \
        struct seep_splat_loss *out, void *scratch, size_t *scratch_bytes,                         \
        struct seep_stream *stream);                                                               \
    SEEP_MUST_CHECK int seep_splat_ssim_##suffix(                                                  \
        const float *image, const float *target, int width, int height, float weight,              \
        float *image_grad, double *ssim, void *scratch, size_t *scratch_bytes,                     \
        struct seep_stream *stream);                                                               \
    SEEP_MUST_CHECK int seep_splat_adam_##suffix(                                                  \
        size_t n, int sh_stride, const struct seep_splat_gradients *gradients,                     \
        const struct seep_splat_rates *rates, unsigned step, const uint32_t *offsets,              \
        struct seep_splat_trained *trained, struct seep_stream *stream);

SEEP_SPLAT_TWIN(cpu)
SEEP_SPLAT_TWIN(cuda)

#ifdef __cplusplus
}
#endif
#endif
