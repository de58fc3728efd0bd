/* Splatting in double precision, one thread, plain loops: the reference for the twins of splat.h.
 * Same constants and rules (splat_twins.h lists them), but the textbook's formulas: full 3 × 3
 * covariances and their inverses in the picture. One rule is left out: a Gaussian is listed in all
 * tiles of its square of 3 sigma, opaque or faint, so that pairs that the twins skip are checked
 * against the full list; the picture is the same, with more pairs. Allocates what it needs with
 * malloc. */
#ifndef SEEP_KERNELS_SPLAT_REFERENCE_H
#define SEEP_KERNELS_SPLAT_REFERENCE_H

#include "kernels/splat/splat_reference_model.h"

/*   image          [height][width][3] out
 *   transmittance  [height][width] out, or NULL
 *   *n_pairs       out: pairs of Gaussian and tile, or NULL
 * 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_reference_render(const struct seep_splat_camera *camera,
                                          const struct seep_reference_model *model, double *image,
                                          double *transmittance, size_t *n_pairs);

/* The same over the lists that the twins make: to compare speed on equal work. */
SEEP_MUST_CHECK int seep_reference_render_tight(const struct seep_splat_camera *camera,
                                                const struct seep_reference_model *model,
                                                double *image, double *transmittance,
                                                size_t *n_pairs);

/*   image_grad  [height][width][3]
 *   *out        out: made by _model_init() with the model's sizes
 *   means2d     [n][2] out, or NULL */
SEEP_MUST_CHECK int seep_reference_backward(const struct seep_splat_camera *camera,
                                            const struct seep_reference_model *model,
                                            const double *image_grad,
                                            struct seep_reference_model *out, double (*means2d)[2]);

#endif
