/* What voxels/voxelize.h must come to, by sorting; the tests' oracle. Host memory, one thread. */
#ifndef SEEP_KERNELS_VOXELIZE_REFERENCE_H
#define SEEP_KERNELS_VOXELIZE_REFERENCE_H

#include "kernels/voxels/voxelize.h"

#ifdef __cplusplus
extern "C" {
#endif

/* As the functions without _reference. They allocate what they need: 0 or -SEEP_ENOMEM. */
void seep_quantize_reference(const float (*points)[3], const int32_t *batch, size_t n_points,
                             float size, int32_t (*coords)[4], size_t *n_refused);
SEEP_MUST_CHECK int seep_voxelize_reference(const int32_t (*coords)[4], size_t n_points,
                                            struct seep_voxel_maps *maps);

/* In double precision. */
void seep_voxel_mean_reference(const struct seep_voxel_maps *maps, const float *features,
                               size_t n_channels, double *voxel_features);

#ifdef __cplusplus
}
#endif
#endif
