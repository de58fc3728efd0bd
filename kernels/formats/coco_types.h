/* What a file of COCO annotations holds. */
#ifndef SEEP_KERNELS_COCO_TYPES_H
#define SEEP_KERNELS_COCO_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_coco_annotation {
    uint64_t id, image_id, category_id;
    bool is_crowd;
    double area, bbox[4]; /* x, y, width, height */
    /* Either polygons, a ring after the other … */
    size_t n_rings;
    size_t *ring_starts; /* [n_rings + 1], in points */
    double (*xy)[2];
    /* … or run lengths by columns, the first of zeros. */
    size_t n_runs;
    uint32_t *runs;
};

struct seep_coco_image {
    uint64_t id;
    uint32_t width, height; /* 1 … 65535 */
    char *file;             /* no "..", not absolute */
};

struct seep_coco {
    struct seep_coco_image *images;
    struct seep_coco_annotation *annotations;
    size_t n_images, n_annotations;
};

#endif
