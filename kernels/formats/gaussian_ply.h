/* point_cloud.ply of 3D Gaussian Splatting (Kerbl et al., SIGGRAPH 2023), which trainers write and
 * viewers read: a PLY whose element "vertex" has, as floats, x y z, nx ny nz (0), f_dc_0 … 2,
 * f_rest_0 …, opacity, scale_0 … 2, rot_0 … 3. Its values are those that are trained, so what
 * seep_splat_adam() steps: scales as logarithms, opacities as logits, quaternions (w first) of any
 * length. f_rest has all of a colour's coefficients before those of the next. */
#ifndef SEEP_KERNELS_GAUSSIAN_PLY_H
#define SEEP_KERNELS_GAUSSIAN_PLY_H

#include "kernels/splat/splat_adam.h"

#ifdef __cplusplus
extern "C" {
#endif

struct seep_gaussian_ply {
    size_t n;
    int sh_degree;                           /* 0 … 3 */
    struct seep_splat_parameters parameters; /* sh: [n][(sh_degree + 1)²][3]; all in host memory */
};

/* Reads a file of at most 4 GiB, of any PLY encoding. Its degree is that of the number of f_rest
 * (0, 9, 24 or 45). Normals, other properties and other elements are passed over; infinities and
 * NaN are values like others, and every float keeps its bits (in ascii a NaN is only a NaN). Takes
 * at most about twice the file's size in memory, and what seep_ply_read() says. 0, -SEEP_EIO,
 * -SEEP_EFORMAT (also a property that is missing, or no float), -SEEP_ENOMEM; *out only where 0.
 * Threads: safe on distinct outputs. */
SEEP_MUST_CHECK int seep_gaussian_ply_read(const char *path, struct seep_gaussian_ply **out,
                                           struct seep_error *err);
SEEP_MUST_CHECK int seep_gaussian_ply_from_bytes(const void *bytes, size_t n,
                                                 struct seep_gaussian_ply **out,
                                                 struct seep_error *err);
void seep_gaussian_ply_free(struct seep_gaussian_ply *gaussians);

/* Writes binary_little_endian as the original does, whole or not at all.
 *   parameters  of n Gaussians, in host memory; sh is [n][sh_stride][3]
 * Allocates 248 bytes a Gaussian at degree 3. -SEEP_EINVAL (a degree that is not 0 … 3, a stride
 * below (sh_degree + 1)², n of 2^31 − 1 or more, NULL), -SEEP_EIO, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_gaussian_ply_write(const char *path, size_t n, int sh_degree,
                                            int sh_stride,
                                            const struct seep_splat_parameters *parameters,
                                            struct seep_error *err);

#ifdef __cplusplus
}
#endif
#endif
