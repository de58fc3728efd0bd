/* A model of Gaussians in double precision, for the reference. */
#ifndef SEEP_KERNELS_SPLAT_REFERENCE_MODEL_H
#define SEEP_KERNELS_SPLAT_REFERENCE_MODEL_H

#include "kernels/splat/splat.h"

/* As struct seep_splat_model; also its gradients. */
struct seep_reference_model {
    size_t n;
    int sh_degree, sh_stride;
    double (*means)[3];
    double (*scales)[3];
    double (*rotations)[4];
    double *opacities;
    double *sh; /* [n][sh_stride][3] */
};

/* Zeros. 0, -SEEP_ENOMEM. Freed with _free(), also after failure. */
SEEP_MUST_CHECK int seep_reference_model_init(struct seep_reference_model *model, size_t n,
                                              int sh_degree, int sh_stride);
SEEP_MUST_CHECK int seep_reference_model_from(struct seep_reference_model *model,
                                              const struct seep_splat_model *from);
void seep_reference_model_free(struct seep_reference_model *model);

#endif
