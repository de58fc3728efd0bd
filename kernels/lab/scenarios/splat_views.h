/* The views of a scene as 3D Gaussian Splatting takes them: where each photo was taken from, at the
 * size it is trained on, and the points that the Gaussians begin with. No pixel is read. */
#ifndef SEEP_KERNELS_SPLAT_VIEWS_H
#define SEEP_KERNELS_SPLAT_VIEWS_H

#include "kernels/splat/splat.h"

struct seep_view {
    struct seep_splat_camera camera; /* width, height and intrinsics of the picture trained on */
    char *photo;                     /* path of the file */
};

struct seep_views {
    struct seep_view *list;
    size_t n;
    float (*points)[3];
    uint8_t (*colors)[3];
    size_t n_points;
    float extent; /* 1.1 × the largest distance of a camera from their mean: the scene's size */
};

/* Reads a folder with sparse/0/ or sparse/ (COLMAP) and photos, else with transforms_train.json
 * (NeRF), whose scenes have no points: then `n_random` are drawn from `seed`, in the cube of ±1.3
 * that the synthetic scenes fill.
 *   images       the folder of the COLMAP scene's photos within `folder`, such as images_4; NULL:
 *                images. Photos of another size than their camera's scale its intrinsics
 *   most_pixels  larger photos are trained on at a size with the same ratio of sides and about that
 *                many pixels
 * 0, -SEEP_EIO, -SEEP_EFORMAT (no pinhole camera, an image without a camera, not one photo),
 * -SEEP_EINVAL (`images` is outside, or given for a scene that names its photos itself),
 * -SEEP_ENOMEM. Threads: safe on distinct outputs. Allocates: *out; free with _fini(). */
SEEP_MUST_CHECK int seep_views_read(const char *folder, const char *images, double most_pixels,
                                    size_t n_random, uint64_t seed, struct seep_views *out,
                                    struct seep_error *err);
void seep_views_fini(struct seep_views *views);

/* Pictures of 1 / `divisor` the width and height, each at least a pixel wide; below 1 they are
 * larger than the photos. */
void seep_views_resize(struct seep_views *views, double divisor);

/* Takes each `every`-th view out of `views` (the first one, too) and into *test, which has no
 * points: the cameras that a model is tested on. 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_views_hold_out(struct seep_views *views, size_t every,
                                        struct seep_views *test);

/* A copy without points. 0, -SEEP_ENOMEM. Free with _fini(), after a failure too. */
SEEP_MUST_CHECK int seep_views_copy(const struct seep_views *views, struct seep_views *out);

/* At least n points: those that lack lie around the others, a fiftieth of the extent away, drawn
 * from `seed`. 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_views_thicken(struct seep_views *views, size_t n, uint64_t seed);

/* The rotation matrix of a quaternion w, x, y, z of any length but 0. */
void seep_view_rotation(const double q[4], float rotation[3][3]);

#endif
