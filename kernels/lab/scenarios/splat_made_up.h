/* A made-up scene in COLMAP's form: a checkered table with three balls and a ring on it, of
 * coloured Gaussians, photographed from all round by the lab's own rasteriser. */
#ifndef SEEP_KERNELS_SPLAT_MADE_UP_H
#define SEEP_KERNELS_SPLAT_MADE_UP_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct seep_made_up {
    size_t n_photos, n_points; /* >= 1 */
    uint32_t width, height;    /* of a photo */
};

/* The seed's own size times `scale`: 600 photos of 1600 × 1066, and 4 million Gaussians at the end,
 * from a quarter as many points. Pixels and Gaussians are scaled; below 1:100 the number of photos,
 * too, and Gaussians again with it, so that pictures and Gaussians keep their ratio. Below 1:1000
 * nothing gets smaller. */
struct seep_made_up seep_made_up_size(double scale);

/* Writes sparse/0/{cameras,images,points3D}.bin and images/ (JPEG, each eighth a PNG) into
 * `folder`. 0, -SEEP_EIO, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_made_up_write(const char *folder, const struct seep_made_up *size,
                                       uint64_t seed, struct seep_error *err);

#endif
