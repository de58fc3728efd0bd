/* A COCO file's images by their ids. */
#ifndef SEEP_KERNELS_COCO_INDEX_H
#define SEEP_KERNELS_COCO_INDEX_H

#include "kernels/formats/coco.h"

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

#endif
