/* The garden: a real scene's points and cameras (garden.npz: means3d, colors, viewmats, Ks, width,
 * height) as Gaussians, before any training. */
#ifndef SEEP_KERNELS_SPLAT_GARDEN_H
#define SEEP_KERNELS_SPLAT_GARDEN_H

#include "kernels/splat/splat_host.h"

struct seep_garden {
    struct seep_splat_host host;
    struct seep_splat_camera *cameras;
    size_t n_cameras;
};

/* Reads `path`; opacities, rotations, stretches of the axes and colours by direction are made up
 * from `seed`. 0, -SEEP_EIO, -SEEP_EFORMAT, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_garden_read(const char *path, int sh_degree, uint64_t seed,
                                     struct seep_garden *out, struct seep_error *err);
void seep_garden_free(struct seep_garden *garden);

#endif
