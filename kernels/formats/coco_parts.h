/* What the files of the COCO reader and writer share. */
#ifndef SEEP_KERNELS_COCO_PARTS_H
#define SEEP_KERNELS_COCO_PARTS_H

#include "kernels/formats/coco_types.h"
#include "libprof/base/error.h"

#include <stdio.h>

/* A file's images by their ids. */
struct seep_coco_index {
    const struct seep_coco_image **sorted; /* [n] into the file's images, by id */
    size_t n;
};

/* 0 or -SEEP_ENOMEM. The index lives no longer than `images`. */
SEEP_MUST_CHECK int seep_coco_index_init(struct seep_coco_index *index,
                                         const struct seep_coco_image *images, size_t n);
void seep_coco_index_fini(struct seep_coco_index *index);

/* NULL where there is none of that id. */
const struct seep_coco_image *seep_coco_index_find(const struct seep_coco_index *index,
                                                   uint64_t id);

/* The file's text to a stream. -SEEP_EINVAL as seep_coco_write(), before anything is written;
 * -SEEP_ENOMEM; -SEEP_EIO. */
SEEP_MUST_CHECK int seep_coco_print(FILE *out, const struct seep_coco *coco, bool compressed);

#endif
