/* What the CPU's way back hands from pixels to Gaussians. */
#ifndef SEEP_KERNELS_SPLAT_BACKWARD_PARTS_H
#define SEEP_KERNELS_SPLAT_BACKWARD_PARTS_H

#include "kernels/splat/splat.h"

/* Sums over pixels for a pair of tile and Gaussian, w = dL/dalpha · alpha (splat_twins.h). Pairs
 * lie at the Gaussian's offset, its tiles row by row, so that a Gaussian's are side by side and are
 * added in the same order whatever thread made them. */
enum { SUM_W, SUM_WU, SUM_WUX, SUM_WY, SUM_WUY, SUM_WYY, SUM_COLOR, PAIR_SUMS = SUM_COLOR + 3 };

/* Runs on the CPU stream and writes all of `out`.
 *   sums  [n_pairs][PAIR_SUMS] */
void seep_splat_unproject(const struct seep_splat_camera *camera,
                          const struct seep_splat_model *model,
                          const struct seep_splat_projected *projected,
                          const float (*sums)[PAIR_SUMS], struct seep_splat_gradients *out,
                          struct seep_stream *stream);

#endif
