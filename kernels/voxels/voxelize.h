/* Points to voxels as PointGroup needs it (Jiang et al., CVPR 2020, section 3.2): which voxel a
 * point lies in, which points a voxel holds, mean features forward and backward. The maps are in
 * CSR form: a voxel costs what it holds, not what the densest one holds.
 *
 * All functions: arrays lie in the memory of the stream's device, rows of coordinates at multiples
 * of 16 bytes (-SEEP_EINVAL if not), and do not overlap; return 0, -SEEP_EINVAL (sizes, NULL),
 * -SEEP_EDEVICE. Scratch as in CUB: with scratch == NULL nothing runs and *scratch_bytes is set,
 * all other pointers may be NULL; else *scratch_bytes is what there is, at a multiple of
 * 64 bytes (256 on CUDA); -SEEP_EINVAL where it is not, or too little. Nothing is allocated inside;
 * on CUDA the call is asynchronous but for the counts it must give back. Threads: one call a stream
 * at a time. */
#ifndef SEEP_KERNELS_VOXELIZE_H
#define SEEP_KERNELS_VOXELIZE_H

#include "kernels/compute/stream.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* floor(xyz / size) of each point, in single precision, with its batch index in front.
 *   points      [n_points][3] metres
 *   batch       [n_points] index of the sample it belongs to, >= 0, or NULL: all 0
 *   size        edge of a voxel, metres, > 0 and finite
 *   coords      [n_points][4] out: batch, x, y, z; x, y, z in −2^20 … 2^20 − 1. A point with
 *               NaN, Inf, beyond those or of a negative batch gets −1, 0, 0, 0: the functions
 *               below leave it out
 *   *n_refused  out: how many those were
 * n_points < 2^31 − 1; 0 is a no-op. */
SEEP_MUST_CHECK int seep_quantize(const float (*points)[3], const int32_t *batch, size_t n_points,
                                  float size, int32_t (*coords)[4], size_t *n_refused,
                                  struct seep_stream *stream);

struct seep_voxel_maps {
    int32_t *point_to_voxel;    /* [n_points]; −1 where the point was refused */
    int32_t (*voxel_coords)[4]; /* [n_points] room, [n_voxels] filled */
    int32_t *voxel_start;       /* [n_points + 1] room, [n_voxels + 1] filled */
    int32_t *voxel_points;      /* [n_points] room, [voxel_start[n_voxels]] filled; indices rise
                                   within a voxel */
    size_t n_voxels;            /* out, on the host */
};

/* Both maps of the batch. Voxels come in the order of their first point, so that results do not
 * hang on the number of threads. What an array has room for beyond what is filled may be
 * overwritten.
 *   coords  [n_points][4] as of seep_quantize(), or any others: a point of a negative batch is
 *           left out
 * n_points < 2^31 − 1. */
SEEP_MUST_CHECK int seep_voxelize(const int32_t (*coords)[4], size_t n_points,
                                  struct seep_voxel_maps *maps, void *scratch,
                                  size_t *scratch_bytes, struct seep_stream *stream);

/* voxel_features[v][c] = mean over the points p of v of features[p][c], added up in double
 * precision and in the points' order.
 *   features        [n_points][n_channels]
 *   voxel_features  [n_voxels][n_channels] out */
SEEP_MUST_CHECK int seep_voxel_mean(const struct seep_voxel_maps *maps, const float *features,
                                    size_t n_channels, float *voxel_features,
                                    struct seep_stream *stream);

/* Its gradient: feature_grads[p][c] = voxel_grads[v(p)][c] / points in v(p), 0 for refused ones. */
SEEP_MUST_CHECK int seep_voxel_mean_backward(const struct seep_voxel_maps *maps, size_t n_points,
                                             const float *voxel_grads, size_t n_channels,
                                             float *feature_grads, struct seep_stream *stream);

/* MinkowskiEngine's sparse_quantize: one point a voxel, the first; its label, or ignore_label where
 * points of the voxel disagree.
 *   labels        [n_points] or NULL, with voxel_labels NULL
 *   first         [n_points] room: index of each voxel's first point, rising
 *   voxel_labels  [n_points] room
 *   inverse       [n_points] or NULL: as point_to_voxel
 *   *n_voxels     out, on the host */
SEEP_MUST_CHECK int seep_sparse_quantize(const int32_t (*coords)[4], const int32_t *labels,
                                         size_t n_points, int32_t ignore_label, int32_t *first,
                                         int32_t *voxel_labels, int32_t *inverse, size_t *n_voxels,
                                         void *scratch, size_t *scratch_bytes,
                                         struct seep_stream *stream);

#ifdef __cplusplus
}
#endif
#endif
