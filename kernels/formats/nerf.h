/* transforms_train.json of NeRF's synthetic scenes and of nerfstudio: cameras as 4×4 camera-to-world
 * matrices with OpenGL axes (x right, y up, z backward). */
#ifndef SEEP_KERNELS_NERF_H
#define SEEP_KERNELS_NERF_H

#include "libprof/error.h"

#include <stddef.h>

struct seep_nerf_frame {
    char *file;            /* file_path as written, no "..", not absolute */
    double to_world[4][4];
    double fx, fy, cx, cy; /* pixels; 0 where the file says only camera_angle_x */
    int width, height;     /* 0 where the file does not say */
};

struct seep_nerf {
    double camera_angle_x; /* radians, 0: not given */
    struct seep_nerf_frame *frames;
    size_t n_frames;
};

SEEP_MUST_CHECK int seep_nerf_read(const char *path, struct seep_nerf **out,
                                   struct seep_error *err);
SEEP_MUST_CHECK int seep_nerf_from_bytes(const void *bytes, size_t n, struct seep_nerf **out,
                                         struct seep_error *err);
SEEP_MUST_CHECK int seep_nerf_write(const char *path, const struct seep_nerf *scene,
                                    struct seep_error *err);
void seep_nerf_free(struct seep_nerf *scene);

#endif
