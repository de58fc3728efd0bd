/* What the variants of Mask R-CNN's scenario must measure. */
#ifndef SEEP_KERNELS_MASKRCNN_JUDGE_H
#define SEEP_KERNELS_MASKRCNN_JUDGE_H

#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"

enum { SEEP_MASKRCNN_BATCH = 2 };

/* In the order of the scenario's variants. */
enum seep_maskrcnn_variant {
    SEEP_MASKRCNN_ALIAS,
    SEEP_MASKRCNN_ALIAS_DEL,
    SEEP_MASKRCNN_SHALLOW,
    SEEP_MASKRCNN_DEEP,
    SEEP_MASKRCNN_ALIAS_ON_GPU,
    SEEP_MASKRCNN_DEEP_ON_GPU,
    SEEP_MASKRCNN_DEL_ON_GPU,
    SEEP_MASKRCNN_DEL_EMPTY_ON_GPU,
    SEEP_MASKRCNN_MASKS_IN_LIST,
    SEEP_MASKRCNN_IMAGES_IN_DICT,
    SEEP_MASKRCNN_ALL_MASKS,
    SEEP_MASKRCNN_VARIANTS
};

void seep_maskrcnn_judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows);

#endif
