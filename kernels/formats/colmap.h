/* COLMAP's sparse models: cameras, images and points3D, as .bin or .txt
 * (https://colmap.github.io/format.html). */
#ifndef SEEP_KERNELS_COLMAP_H
#define SEEP_KERNELS_COLMAP_H

#include "kernels/formats/colmap_types.h"
#include "libprof/base/error.h"

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Reads the model in `folder` (cameras, images, points3D; all three .bin where there is a
 * cameras.bin, else .txt), each file of at most 4 GiB. Counts in headers are held against the
 * file's size before memory is taken.
 *
 * Values are kept as they are written; a quaternion is not normalised. Of points, 2D and 3D, NaN
 * and infinite coordinates and errors are kept too (in text a NaN is only a NaN). Refused are: a
 * camera of an unknown model (11 and up), with a parameter that is not finite or a side that is not
 * 1 … 2³¹−1; an image without a camera, with a pose that is not finite, with a quaternion whose
 * norm is not within 1e-6 … 1e6, or with a name that seep_name_is_safe() refuses; two cameras,
 * images or points of one id; bytes behind the last record. Whether tracks and point3d_ids lead
 * anywhere is not looked at. In text, a name is the rest of its line.
 *
 * 0, -SEEP_EIO, -SEEP_EFORMAT, -SEEP_ENOMEM; *out only where 0.
 * Threads: safe on distinct outputs. */
SEEP_MUST_CHECK int seep_colmap_read(const char *folder, struct seep_colmap **out,
                                     struct seep_error *err);
/* The three files as bytes; a NULL is an empty file: no records in text, cut off in binary. */
SEEP_MUST_CHECK int seep_colmap_from_bytes(bool text, const void *cameras, size_t n_cameras,
                                           const void *images, size_t n_images, const void *points,
                                           size_t n_points, struct seep_colmap **out,
                                           struct seep_error *err);
/* Into a folder that is there; cameras last, each file whole or not at all. -SEEP_EINVAL for a
 * model that seep_colmap_read() would refuse; -SEEP_EIO, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_colmap_write(const char *folder, bool text,
                                      const struct seep_colmap *model, struct seep_error *err);
void seep_colmap_free(struct seep_colmap *model);

/* fx, fy, cx, cy in pixels: of SIMPLE_PINHOLE and PINHOLE all there is, of SIMPLE_RADIAL, RADIAL,
 * OPENCV, FULL_OPENCV, SIMPLE_DIVISION and DIVISION the part without distortion; false for the
 * others. */
bool seep_colmap_pinhole(const struct seep_colmap_camera *camera, double k[4]);

#ifdef __cplusplus
}
#endif
#endif
