/* A picture in memory. */
#ifndef SEEP_KERNELS_IMAGE_TYPES_H
#define SEEP_KERNELS_IMAGE_TYPES_H

#include <stddef.h>
#include <stdint.h>

enum { SEEP_IMAGE_MAX_SIDE = 16384 };

struct seep_image {
    uint32_t width, height;
    unsigned channels; /* 1 grey, 3 RGB, 4 RGBA */
    uint8_t *pixels;   /* [height][width][channels] */
};

#endif
