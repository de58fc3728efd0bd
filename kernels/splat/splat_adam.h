/* One step of Adam (Kingma and Ba, ICLR 2015) over a model's parameters. Scales are trained as
 * their logarithms and opacities as their logits; the chain rule and the way back are part of the
 * step. */
#ifndef SEEP_KERNELS_SPLAT_ADAM_H
#define SEEP_KERNELS_SPLAT_ADAM_H

#include "kernels/splat/splat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* beta1 0.9, beta2 0.999, epsilon 1e-15. */
struct seep_splat_rates {
    float means; /* times the scene's extent */
    float log_scales, rotations, logits, sh_first, sh_rest;
};

/* The rates of Kerbl et al. as gsplat's trainer lists them: 1.6e-4 × extent, 5e-3, 1e-3,
 * 5e-2, 2.5e-3, 2.5e-3 / 20. */
struct seep_splat_rates seep_splat_rates_of_paper(float extent);

/* [n] each. What Adam steps: means, log_scales, rotations, logits, sh, with first and second
 * moments alike. */
struct seep_splat_parameters {
    float (*means)[3];
    float (*log_scales)[3];
    float (*rotations)[4];
    float *logits;
    float *sh; /* [n][sh_stride][3] */
};

struct seep_splat_trained {
    struct seep_splat_parameters parameters, first, second;
    float (*scales)[3]; /* out: exp(log_scales) */
    float *opacities;   /* out: 1 / (1 + exp(−logits)) */
};

/* Steps the parameters of all Gaussians and writes scales and opacities.
 *   gradients  of the picture, as seep_splat_backward() leaves them: by scales and opacities
 *              before the step, that is those in trained->scales and ->opacities
 *   step       1, 2, … for the moments' correction; 0: nothing is stepped, scales and opacities
 *              are written from the parameters and moments set to 0 (gradients may be NULL)
 * n < 2^31, sh_stride 1 … 1024; n == 0 is a no-op. 0, -SEEP_EINVAL, -SEEP_EDEVICE. Threads: one
 * call a stream at a time. */
SEEP_MUST_CHECK int seep_splat_adam(size_t n, int sh_stride,
                                    const struct seep_splat_gradients *gradients,
                                    const struct seep_splat_rates *rates, unsigned step,
                                    struct seep_splat_trained *trained, struct seep_stream *stream);

/* The same for the Gaussians of the picture alone: what is culled keeps its parameters and moments,
 * and is neither read nor written. (The dense step goes on moving a Gaussian by its first moment,
 * and lets both moments fade, while nobody sees it: so the two train differently.) For a Gaussian
 * that is seen both come to the same bits from the same numbers.
 *   offsets  of seep_splat_project(), in the stream's memory; step 0 takes no notice of them */
SEEP_MUST_CHECK int
seep_splat_adam_seen(size_t n, int sh_stride, const struct seep_splat_gradients *gradients,
                     const struct seep_splat_rates *rates, unsigned step, const uint32_t *offsets,
                     struct seep_splat_trained *trained, struct seep_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
