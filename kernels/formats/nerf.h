/* transforms_train.json of NeRF's synthetic scenes and of nerfstudio: cameras as 4×4
 * camera-to-world matrices with OpenGL axes (x right, y up, z backward). */
#ifndef SEEP_KERNELS_NERF_H
#define SEEP_KERNELS_NERF_H

#include "kernels/formats/nerf_types.h"
#include "libprof/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a file of at most 64 MiB, whose JSON values take at most 512 MiB. fl_x, fl_y, cx, cy, w and
 * h hold for all frames, but for those that have their own; without fl_y it is fl_x, without cx or
 * cy the middle of a picture whose size is given. A matrix may lack its last row, 0 0 0 1. Keys
 * that are not named here are passed over, but a camera_model with another geometry (fisheye,
 * equirectangular, …) is refused, as are a file without frames[], matrices that scale, shear or
 * mirror, frames without file_path or transform_matrix, and frames without any focal length.
 *
 * 0, -SEEP_EIO, -SEEP_EFORMAT (err->offset: where the JSON is wrong), -SEEP_ENOMEM; *out only where
 * 0. Threads: safe on distinct outputs. */
SEEP_MUST_CHECK int seep_nerf_read(const char *path, struct seep_nerf **out,
                                   struct seep_error *err);
SEEP_MUST_CHECK int seep_nerf_from_bytes(const void *bytes, size_t n, struct seep_nerf **out,
                                         struct seep_error *err);
/* Intrinsics are written with each frame. -SEEP_EINVAL for a scene that seep_nerf_read() would
 * refuse, or names that are no UTF-8; -SEEP_EIO, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_nerf_write(const char *path, const struct seep_nerf *scene,
                                    struct seep_error *err);
void seep_nerf_free(struct seep_nerf *scene);

#ifdef __cplusplus
}
#endif
#endif
