/* Pictures: JPEG through libjpeg-turbo, PNG through libpng. */
#ifndef SEEP_KERNELS_IMAGE_H
#define SEEP_KERNELS_IMAGE_H

#include "libprof/error.h"

#include <stddef.h>
#include <stdint.h>

enum { SEEP_IMAGE_MAX_SIDE = 16384 };

struct seep_image {
    uint32_t width, height;
    unsigned channels; /* 1 grey, 3 RGB, 4 RGBA */
    uint8_t *pixels;   /* [height][width][channels] */
};

/* By the first bytes of the file. Sizes are checked before memory is taken. */
SEEP_MUST_CHECK int seep_image_read(const char *path, struct seep_image **out,
                                    struct seep_error *err);
SEEP_MUST_CHECK int seep_image_from_bytes(const void *bytes, size_t n, struct seep_image **out,
                                          struct seep_error *err);
/* Only width and height; nothing is decoded. */
SEEP_MUST_CHECK int seep_image_size(const char *path, uint32_t *width, uint32_t *height,
                                    struct seep_error *err);
SEEP_MUST_CHECK int seep_image_write_png(const char *path, const struct seep_image *image,
                                         struct seep_error *err);
SEEP_MUST_CHECK int seep_image_write_jpeg(const char *path, const struct seep_image *image,
                                          int quality, struct seep_error *err);
void seep_image_free(struct seep_image *image);

#endif
