/* The two implementations of voxels/voxelize.h. Arguments are checked and there is at least one
 * point; scratch has the size that the same twin's _scratch_ function returned. */
#ifndef SEEP_KERNELS_VOXELIZE_TWINS_H
#define SEEP_KERNELS_VOXELIZE_TWINS_H

#include "kernels/voxels/voxelize.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { SEEP_VOXEL_REACH = 1 << 20 }; /* quantised coordinates: −REACH … REACH − 1 */

/* Part k of a voxel of n > SEEP_VOXEL_LARGE points is its points n k / PARTS … n (k + 1) / PARTS.
 */
enum { SEEP_VOXEL_PARTS = 256 };

#define SEEP_VOXEL_TWIN(device)                                                                    \
    SEEP_MUST_CHECK int seep_quantize_##device(const float(*points)[3], const int32_t *batch,      \
                                               size_t n_points, float size, int32_t(*coords)[4],   \
                                               size_t *n_refused, struct seep_stream *stream);     \
    SEEP_MUST_CHECK int seep_voxelize_scratch_##device(size_t n_points, size_t *bytes,             \
                                                       struct seep_stream *stream);                \
    SEEP_MUST_CHECK int seep_voxelize_##device(const int32_t(*coords)[4], size_t n_points,         \
                                               struct seep_voxel_maps *maps, void *scratch,        \
                                               size_t scratch_bytes, struct seep_stream *stream);  \
    SEEP_MUST_CHECK int seep_voxel_mean_##device(                                                  \
        const struct seep_voxel_maps *maps, const float *features, size_t n_channels,              \
        float *voxel_features, struct seep_stream *stream);                                        \
    SEEP_MUST_CHECK int seep_voxel_mean_backward_##device(                                         \
        const struct seep_voxel_maps *maps, size_t n_points, const float *voxel_grads,             \
        size_t n_channels, float *feature_grads, struct seep_stream *stream);                      \
    SEEP_MUST_CHECK int seep_sparse_quantize_scratch_##device(size_t n_points, size_t *bytes,      \
                                                              struct seep_stream *stream);         \
    SEEP_MUST_CHECK int seep_sparse_quantize_##device(                                             \
        const int32_t(*coords)[4], const int32_t *labels, size_t n_points, int32_t ignore_label,   \
        int32_t *first, int32_t *voxel_labels, int32_t *inverse, size_t *n_voxels, void *scratch,  \
        size_t scratch_bytes, struct seep_stream *stream)

SEEP_VOXEL_TWIN(cpu);
SEEP_VOXEL_TWIN(cuda); /* defined if built with CUDA */

#ifdef __cplusplus
}
#endif
#endif
