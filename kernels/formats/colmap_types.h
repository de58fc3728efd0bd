/* What a COLMAP model holds. */
#ifndef SEEP_KERNELS_COLMAP_TYPES_H
#define SEEP_KERNELS_COLMAP_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum { SEEP_COLMAP_MAX_PARAMS = 16 };

struct seep_colmap_camera {
    uint32_t id;
    int32_t model; /* 0 SIMPLE_PINHOLE, 1 PINHOLE, 2 SIMPLE_RADIAL, … 17 EQUIRECTANGULAR */
    uint64_t width, height;
    unsigned n_params;
    double params[SEEP_COLMAP_MAX_PARAMS];
};

struct seep_colmap_image {
    uint32_t id, camera_id;
    double rotation[4]; /* quaternion w, x, y, z: world to camera */
    double translation[3];
    char *name;
    size_t n_points2d;
    double (*xy)[2];      /* [n_points2d] pixels */
    int64_t *point3d_ids; /* [n_points2d], −1: none */
};

struct seep_colmap_point {
    uint64_t id;
    double xyz[3];
    uint8_t rgb[3];
    double error;
    size_t n_track;
    uint32_t (*track)[2]; /* [n_track]: image id, index into its points2d */
};

struct seep_colmap {
    struct seep_colmap_camera *cameras;
    struct seep_colmap_image *images;
    struct seep_colmap_point *points;
    size_t n_cameras, n_images, n_points;
};

#endif
