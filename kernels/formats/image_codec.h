/* What image.c and its two codecs share. */
#ifndef SEEP_KERNELS_IMAGE_CODEC_H
#define SEEP_KERNELS_IMAGE_CODEC_H

#include "kernels/formats/image_types.h"
#include "libprof/base/error.h"

#include <stdbool.h>
#include <stdio.h>

/* A file's bytes and whom to tell; `file` may be "". */
struct seep_image_source {
    const uint8_t *bytes;
    size_t n;
    const char *file;
    struct seep_error *err;
};

/* Sides 1 … SEEP_IMAGE_MAX_SIDE and at most 1 GiB of pixels, else -SEEP_EFORMAT. */
SEEP_MUST_CHECK int seep_image_check_size(const struct seep_image_source *source, uint64_t width,
                                          uint64_t height, unsigned channels);

/* Where `size_only`, only width and height of *out mean anything; else pixels is malloc()ed. */
SEEP_MUST_CHECK int seep_jpeg_decode(const struct seep_image_source *source, bool size_only,
                                     struct seep_image *out);
SEEP_MUST_CHECK int seep_png_decode(const struct seep_image_source *source, bool size_only,
                                    struct seep_image *out);

/* `image` has been checked. `path` is for the error only. */
SEEP_MUST_CHECK int seep_jpeg_encode(FILE *stream, const char *path, const struct seep_image *image,
                                     int quality, struct seep_error *err);
SEEP_MUST_CHECK int seep_png_encode(FILE *stream, const char *path, const struct seep_image *image,
                                    struct seep_error *err);

#endif
