/* What a job has trained, as the file that viewers of 3D Gaussian Splatting open. */
#ifndef SEEP_KERNELS_SPLAT_SAVE_H
#define SEEP_KERNELS_SPLAT_SAVE_H

#include "kernels/lab/scenarios/splat_gaussians.h"

/* Whether point_cloud.ply can be written there, before hours are spent on it: 0, -SEEP_EIO,
 * -SEEP_EINVAL. Writes nothing. */
SEEP_MUST_CHECK int seep_gaussians_can_save(const char *path, struct seep_error *err);

/* Writes all coefficients of all Gaussians (kernels/formats/gaussian_ply.h). Allocates their
 * parameters twice, in host memory. 0, -SEEP_EIO, -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_gaussians_save(const struct seep_gaussians *g, const char *path,
                                        struct seep_error *err);

#endif
