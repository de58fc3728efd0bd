/* Points to voxels as PointGroup needs it (Jiang et al., CVPR 2020, section 3.2): which voxel a
 * point lies in, which points a voxel contains, and mean features, forward and backward. The maps
 * are in CSR form: the room of a voxel depends on its own points, not on the densest voxel's.
 *
 * All functions: arrays are in the memory of the stream's device and do not overlap; rows of
 * coordinates are at multiples of 16 bytes (-SEEP_EINVAL if not). They return 0, -SEEP_EINVAL
 * (sizes, NULL) or -SEEP_EDEVICE. Scratch as in CUB: with scratch == NULL nothing runs, only
 * *scratch_bytes is set, and all other pointers may be NULL. Otherwise scratch is *scratch_bytes
 * long and at a multiple of 64 bytes (256 on CUDA); -SEEP_EINVAL if not, or if it is too small.
 * Functions allocate nothing; on CUDA they are asynchronous except for counts that they return.
 * Threads: one call per stream at a time. */
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
 *   coords      [n_points][4] out: batch, x, y, z; x, y, z in −2^20 … 2^20 − 1. A point that is
 *               NaN, Inf, out of that range or of a negative batch is refused: it gets
 *               −1, 0, 0, 0, and the functions below ignore it
 *   *n_refused  out: how many points were refused
 * n_points < 2^31 − 1; 0 is a no-op. */
SEEP_MUST_CHECK int seep_quantize(const float (*points)[3], const int32_t *batch, size_t n_points,
                                  float size, int32_t (*coords)[4], size_t *n_refused,
                                  struct seep_stream *stream);

struct seep_voxel_maps {
    int32_t *point_to_voxel;    /* [n_points]; −1 if the point was refused */
    int32_t (*voxel_coords)[4]; /* [n_points] room, [n_voxels] filled */
    int32_t *voxel_start;       /* [n_points + 1] room, [n_voxels + 1] filled */
    int32_t *voxel_points;      /* [n_points] room, [voxel_start[n_voxels]] filled; indices
                                 * ascend within a voxel */
    size_t n_voxels;            /* out, on the host */
};

/* Both maps of the batch. Voxels are in the order of their first point, so results do not depend
 * on the number of threads. Arrays may be overwritten beyond the part that is filled.
 *   coords  [n_points][4] from seep_quantize(), or any others: points of a negative batch are
 *           ignored
 * n_points < 2^31 − 1. */
SEEP_MUST_CHECK int seep_voxelize(const int32_t (*coords)[4], size_t n_points,
                                  struct seep_voxel_maps *maps, void *scratch,
                                  size_t *scratch_bytes, struct seep_stream *stream);

/* More points in one voxel than that are summed in parts, for which threads need not wait. */
enum { SEEP_VOXEL_LARGE = 1 << 12 };

/* voxel_features[v][c] = mean over the points p of v of features[p][c], summed in double
 * precision: in the points' order if they are at most SEEP_VOXEL_LARGE, else in 256 parts of
 * consecutive points, whose sums are added in order. The same to the bit for any number of threads,
 * and on CUDA.
 *   features        [n_points][n_channels]
 *   voxel_features  [n_voxels][n_channels] out */
SEEP_MUST_CHECK int seep_voxel_mean(const struct seep_voxel_maps *maps, const float *features,
                                    size_t n_channels, float *voxel_features,
                                    struct seep_stream *stream);

/* Its gradient: feature_grads[p][c] = voxel_grads[v(p)][c] / points in v(p), 0 if refused. */
SEEP_MUST_CHECK int seep_voxel_mean_backward(const struct seep_voxel_maps *maps, size_t n_points,
                                             const float *voxel_grads, size_t n_channels,
                                             float *feature_grads, struct seep_stream *stream);

/* MinkowskiEngine's sparse_quantize: one point per voxel, the first; its label, or ignore_label if
 * labels in the voxel differ.
 *   labels        [n_points] or NULL, with voxel_labels NULL
 *   first         [n_points] room: index of each voxel's first point, ascending
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
