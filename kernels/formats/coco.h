/* COCO instance annotations (Lin et al., 2014): instances_*.json with polygons, uncompressed and
 * compressed run lengths. */
#ifndef SEEP_KERNELS_COCO_H
#define SEEP_KERNELS_COCO_H

#include "kernels/formats/coco_types.h"
#include "libprof/base/error.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads a file of at most 512 MiB; meanwhile its JSON values take about ten times the file's size,
 * and 6 GiB at most. Run lengths are checked against the size that the file gives with them, and
 * that size against the image's. An image_id may belong to no image of the file (a subset). 0,
 * -SEEP_EIO, -SEEP_EFORMAT, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_coco_read(const char *path, struct seep_coco **out,
                                   struct seep_error *err);
SEEP_MUST_CHECK int seep_coco_from_bytes(const void *bytes, size_t n, struct seep_coco **out,
                                         struct seep_error *err);
/* Annotations with run lengths need their image. `compressed`: as pycocotools' strings.
 * -SEEP_EINVAL also where a number is not valid in JSON or a name is not UTF-8; -SEEP_EIO,
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_coco_write(const char *path, const struct seep_coco *coco, bool compressed,
                                    struct seep_error *err);
void seep_coco_free(struct seep_coco *coco);

/* The annotation's mask: 1 inside, 0 outside. A pixel is inside a ring where its centre is
 * (even-odd; pixel x, y has its centre at x + 0.5, y + 0.5), and inside the annotation where it is
 * inside any of its rings.
 *   mask  [height][width] out
 * -SEEP_EFORMAT where run lengths do not add up to width × height; -SEEP_EINVAL where either is 0.
 * Threads: safe on distinct masks. Allocates: nothing. */
SEEP_MUST_CHECK int seep_coco_mask(const struct seep_coco_annotation *annotation, uint32_t width,
                                   uint32_t height, uint8_t *mask);

#ifdef __cplusplus
}
#endif
#endif
