/* Pictures: JPEG through libjpeg-turbo, PNG through libpng. */
#ifndef SEEP_KERNELS_IMAGE_H
#define SEEP_KERNELS_IMAGE_H

#include "kernels/formats/image_types.h"
#include "libprof/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A JPEG or a PNG, by the first bytes of the file. Grey stays grey; palettes, 16 bits and fewer
 * than 8 become 8-bit RGB or grey, with transparency RGBA; CMYK and arithmetic-coded JPEGs are
 * refused. What ends early is an error, what libjpeg or libpng warn of is not. Before memory is
 * taken the size is held against SEEP_IMAGE_MAX_SIDE, 1 GiB of pixels, and what so short a file can
 * hold. 0, -SEEP_EIO, -SEEP_EFORMAT, -SEEP_ENOMEM. Threads: safe on distinct outputs. */
SEEP_MUST_CHECK int seep_image_read(const char *path, struct seep_image **out,
                                    struct seep_error *err);
SEEP_MUST_CHECK int seep_image_from_bytes(const void *bytes, size_t n, struct seep_image **out,
                                          struct seep_error *err);
/* Only width and height; nothing is decoded, and mostly no more than 64 KiB are read. */
SEEP_MUST_CHECK int seep_image_size(const char *path, uint32_t *width, uint32_t *height,
                                    struct seep_error *err);
/* Written whole or not at all. JPEG: grey or RGB, quality 1 … 100. -SEEP_EINVAL (also sides beyond
 * SEEP_IMAGE_MAX_SIDE, channels other than 1, 3 or 4), -SEEP_EIO, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_image_write_png(const char *path, const struct seep_image *image,
                                         struct seep_error *err);
SEEP_MUST_CHECK int seep_image_write_jpeg(const char *path, const struct seep_image *image,
                                          int quality, struct seep_error *err);
void seep_image_free(struct seep_image *image);

#ifdef __cplusplus
}
#endif
#endif
