/* __getitem__ and collate_fn of the document, with the mistake and without it. */
#ifndef SEEP_KERNELS_MASKRCNN_COLLATE_H
#define SEEP_KERNELS_MASKRCNN_COLLATE_H

#include "kernels/lab/scenarios/maskrcnn_dataset.h"

#include <stdbool.h>

struct seep_maskrcnn_loader {
    const struct seep_maskrcnn_dataset *dataset;
    /* How __getitem__ copies the cached annotation: seep_target_copy(), seep_target_deepcopy(), or
     * NULL: not at all, which is the mistake. */
    struct seep_target *(*copies)(const struct seep_target *target);
    bool has_all_masks;  /* the cache holds tensors: seep_maskrcnn_read_all() made them */
    bool masks_in_list;  /* collate_fn returns masks beside the targets, as it does pictures */
    bool images_in_dict; /* collate_fn writes pictures into the targets, as it does masks */
    size_t mask_bytes, image_bytes; /* of all samples collated so far */
    size_t most_masks;              /* bytes of the sample with most */
    size_t most_batch_masks;        /* … of the batch with most */
    size_t n_tensors_before; /* samples that had tensors for boxes and labels before collate_fn */
};

struct seep_maskrcnn_sample {
    struct seep_image *picture;       /* until it is collated */
    struct seep_target_value *pixels; /* ToTensor(): float [channels][height][width], 0 ... 1; NULL:
                                         it is in the target */
    struct seep_target_value *masks;  /* NULL: they are in the target */
    struct seep_target *target;
    bool own_target; /* a copy, freed with the sample */
    uint32_t width, height;
};

/* 0 or a negative SEEP_E…; the sample is to be freed in any case. */
SEEP_MUST_CHECK int seep_maskrcnn_getitem(const struct seep_maskrcnn_loader *loader, size_t i,
                                          struct seep_maskrcnn_sample *out, struct seep_error *err);

/* Makes tensors of pictures, boxes, labels and masks, and writes them where the loader says.
 * -SEEP_EVARIANT (scenario.h) where a target has no "masks". */
SEEP_MUST_CHECK int seep_maskrcnn_collate(struct seep_maskrcnn_loader *loader,
                                          struct seep_maskrcnn_sample *samples, size_t n,
                                          struct seep_error *err);

/* The document's first version: boxes, labels and masks of the whole data set become tensors before
 * the first step. Sets has_all_masks. 0 or a negative SEEP_E…. */
SEEP_MUST_CHECK int seep_maskrcnn_read_all(struct seep_maskrcnn_loader *loader,
                                           struct seep_error *err);
void seep_maskrcnn_sample_fini(struct seep_maskrcnn_sample *sample);

#endif
