/* The scales that training starts from. */
#ifndef SEEP_KERNELS_SPLAT_SCALES_H
#define SEEP_KERNELS_SPLAT_SCALES_H

#include "kernels/splat/splat.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Scales of Gaussians that nothing is known of but their means: the mean distance to the three
 * nearest others (Kerbl et al., section 5.1), along all axes; at least 1e-7, and 1 where there are
 * no others.
 *   means   [n][3] finite
 *   scales  [n][3] out
 * 0, -SEEP_ENOMEM (4 bytes a mean). */
SEEP_MUST_CHECK int seep_splat_scales(const float (*means)[3], size_t n, float (*scales)[3]);

#ifdef __cplusplus
}
#endif
#endif
