/* A model in host memory, and the scales that training starts from. */
#ifndef SEEP_KERNELS_SPLAT_SCALES_H
#define SEEP_KERNELS_SPLAT_SCALES_H

#include "kernels/splat/splat.h"

/* A model of n Gaussians in host memory, all zeros. 0, -SEEP_ENOMEM; freed with _fini() in
 * either case. */
struct seep_splat_host {
    struct seep_splat_model model; /* points at the arrays below */
    float (*means)[3], (*scales)[3], (*rotations)[4];
    float *opacities, *sh;
};
SEEP_MUST_CHECK int seep_splat_host_init(struct seep_splat_host *host, size_t n, int sh_degree);
void seep_splat_host_fini(struct seep_splat_host *host);

/* Scales of Gaussians that nothing is known of but their means: the mean distance to the three
 * nearest others (Kerbl et al., section 5.1), along all axes; at least 1e-7, and 1 where there are
 * no others.
 *   means   [n][3] finite
 *   scales  [n][3] out
 * 0, -SEEP_ENOMEM (4 bytes a mean). */
SEEP_MUST_CHECK int seep_splat_scales(const float (*means)[3], size_t n, float (*scales)[3]);

#endif
