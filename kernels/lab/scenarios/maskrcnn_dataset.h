/* Mask R-CNN's data set: COCO annotations, all in memory, pictures and masks on disk. */
#ifndef SEEP_KERNELS_MASKRCNN_DATASET_H
#define SEEP_KERNELS_MASKRCNN_DATASET_H

#include "kernels/formats/coco.h"
#include "kernels/formats/image.h"
#include "kernels/lab/scenarios/maskrcnn_target.h"

/* One instance as the list of masks names it: plain bytes, so that lists of them can be copied. */
struct seep_maskrcnn_source {
    uint64_t annotation_id;
    uint32_t annotation; /* index in coco->annotations: its polygons, where there is no PNG */
    uint32_t width, height;
};

struct seep_maskrcnn_dataset {
    const char *folder; /* the caller's */
    const char *pictures;
    struct seep_coco *coco;
    struct seep_target **cache; /* [coco->n_images], the document's self.anns */
};

/* The document does not say how many pictures it has; 5,000 are COCO's val2017. */
enum { SEEP_MASKRCNN_IMAGES = 5000 };

/* annotations.json, images/NAME.jpg and masks/ANNOTATION-ID.png, of 640×480 and 7.3 instances on
 * average. */
SEEP_MUST_CHECK int seep_maskrcnn_make_data(const char *folder, double scale, uint64_t seed,
                                            struct seep_error *err);

/* Such a folder; or COCO's own, with annotations/instances_val2017.json and val2017/. */
SEEP_MUST_CHECK int seep_maskrcnn_dataset_open(const char *folder,
                                               struct seep_maskrcnn_dataset *out,
                                               struct seep_error *err);
void seep_maskrcnn_dataset_close(struct seep_maskrcnn_dataset *dataset);

/* -SEEP_EFORMAT where it is not as large as its annotations say. */
SEEP_MUST_CHECK int seep_maskrcnn_picture(const struct seep_maskrcnn_dataset *dataset, size_t i,
                                          struct seep_image **out, struct seep_error *err);

/* The instance's mask, 0 or 255, from its PNG or else drawn.
 *   mask  [height][width] out */
SEEP_MUST_CHECK int seep_maskrcnn_mask(const struct seep_maskrcnn_dataset *dataset,
                                       const struct seep_maskrcnn_source *source, uint8_t *mask,
                                       struct seep_error *err);

#endif
