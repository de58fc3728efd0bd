/* A model in host memory. */
#ifndef SEEP_KERNELS_SPLAT_HOST_H
#define SEEP_KERNELS_SPLAT_HOST_H

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

#endif
