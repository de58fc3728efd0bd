/* The cameras of a NeRF scene. */
#ifndef SEEP_KERNELS_NERF_TYPES_H
#define SEEP_KERNELS_NERF_TYPES_H

#include <stddef.h>

struct seep_nerf_frame {
    char *file;            /* file_path as written; seep_name_is_safe() */
    double to_world[4][4]; /* a rotation and a translation, last row 0 0 0 1: to 5e-3 */
    double fx, fy, cx, cy; /* pixels; 0 where the file says only camera_angle_x */
    int width, height;     /* 0 where the file does not say */
};

struct seep_nerf {
    double camera_angle_x; /* radians, 0: not given */
    struct seep_nerf_frame *frames;
    size_t n_frames;
};

#endif
