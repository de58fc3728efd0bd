/* Who keeps the true pictures, and for how long: the list of cameras of a 3D Gaussian Splatting
 * job as it was written, with its two patches, and with the pictures left on the host.
 *
 * A picture on the device is float [height][width][3], 0 … 1: 12 bytes a pixel. */
#ifndef SEEP_KERNELS_SPLAT_CAMERAS_H
#define SEEP_KERNELS_SPLAT_CAMERAS_H

#include "kernels/lab/scenarios/splat_views.h"

enum seep_camera_policy {
    SEEP_CAMERAS_EAGER,    /* every picture is on the device before the first step, for good */
    SEEP_CAMERAS_CACHED,   /* loaded when first used; the scene's list owns the loader, for good */
    SEEP_CAMERAS_EVICTING, /* no list but the one that steps pop from, made anew each epoch */
    SEEP_CAMERAS_DECODED,  /* as EVICTING, but photos stay decoded on the host from their first use
                              on: scene_info of the original keeps them */
    SEEP_CAMERAS_ON_HOST,  /* every picture as bytes on the host, a float copy for a step */
    SEEP_CAMERAS_FLOATS_ON_HOST, /* every picture as floats there, copied for a step */
};

struct seep_camera {
    const struct seep_view *view;
    float *original; /* on the device; NULL: not loaded */
    uint8_t *bytes;  /* ON_HOST: [height][width][3] */
    float *floats;   /* FLOATS_ON_HOST: the same */
};

struct seep_cameras; /* the lists */

/* `views` must outlive the lists. 0, -SEEP_EIO, -SEEP_EFORMAT, -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_cameras_create(enum seep_camera_policy policy,
                                        const struct seep_views *views, uint64_t seed,
                                        struct seep_stream *stream, struct seep_cameras **out,
                                        struct seep_error *err);
void seep_cameras_destroy(struct seep_cameras *cameras); /* NULL: nothing */

/* Takes a camera at random from those that this epoch has not seen, with its picture loaded. Give
 * it back when the step needs it no more. */
SEEP_MUST_CHECK int seep_cameras_pop(struct seep_cameras *cameras, struct seep_camera **out,
                                     struct seep_error *err);
void seep_cameras_give_back(struct seep_cameras *cameras, struct seep_camera *camera);

/* Whether the next _pop() begins an epoch. */
bool seep_cameras_begin_epoch(const struct seep_cameras *cameras);

/* n bytes as n floats 0 … 1, to `device`. 0, -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_photo_upload(struct seep_stream *stream, const uint8_t *bytes, size_t n,
                                      float *device);

/* Decodes a photo at its view's size. *bytes is [height][width][3], free()d by the caller. */
SEEP_MUST_CHECK int seep_photo_read(const struct seep_view *view, uint8_t **bytes,
                                    struct seep_error *err);

#endif
