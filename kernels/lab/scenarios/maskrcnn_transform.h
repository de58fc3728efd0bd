/* What a step of Mask R-CNN requests of the GPU before its network begins: torchvision's
 * GeneralizedRCNNTransform. Requests only; nothing is computed.
 *
 * Its published sizes: pictures as floats, normalized, then scaled until the shorter side has 800
 * pixels or the longer one 1,333; masks turned into floats, scaled likewise, and turned into bytes;
 * all pictures in one tensor, padded to multiples of 32. */
#ifndef SEEP_KERNELS_MASKRCNN_TRANSFORM_H
#define SEEP_KERNELS_MASKRCNN_TRANSFORM_H

#include "kernels/lab/scenarios/maskrcnn_collate.h"

enum { SEEP_MASKRCNN_MOST_SAMPLES = 16 };

/* All that it takes it gives back before it returns; *batch_bytes: what it asked for for the one
 * tensor of all pictures, 0 where it was not made. n: 1 … MAX_SAMPLES, pictures of at least one
 * pixel. 0, -SEEP_EINVAL, -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_maskrcnn_transform(struct seep_cached_gpu *gpu,
                                            const struct seep_maskrcnn_sample *samples, size_t n,
                                            size_t *batch_bytes);

#endif
