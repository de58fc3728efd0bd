/* What a data set for Mask R-CNN hands out beside a picture: a dictionary with the keys "boxes",
 * "labels" and "masks", whose values are shared by reference, as Python's are. "image" is a key for
 * whoever puts the picture into it, too. */
#ifndef SEEP_KERNELS_MASKRCNN_TARGET_H
#define SEEP_KERNELS_MASKRCNN_TARGET_H

#include "kernels/lab/scenarios/cached_gpu.h"

#include <stddef.h>

/* A list or a tensor: bytes that do not change once others refer to them. The last owner frees
 * them. */
struct seep_target_value {
    unsigned n_owners;
    bool is_list; /* as the annotations have it; else a tensor */
    size_t n_bytes;
    void *bytes;                       /* malloc()'s; NULL: they are on the GPU */
    struct seep_caching_block *on_gpu; /* NULL: they are on the host */
    struct seep_cached_gpu *gpu;
    struct seep_target_value *source; /* what a tensor was made from, kept; or NULL */
};

enum seep_target_key {
    SEEP_TARGET_BOXES,
    SEEP_TARGET_LABELS,
    SEEP_TARGET_MASKS,
    SEEP_TARGET_IMAGE,
    SEEP_TARGET_KEYS
};

struct seep_target {
    struct seep_target_value *of[SEEP_TARGET_KEYS]; /* NULL: no such key */
    size_t n;                                       /* instances */
};

/* A tensor. Takes over `bytes` (malloc) in any case; `source` gets one owner more. NULL without
 * memory. */
struct seep_target_value *seep_target_value_create(void *bytes, size_t n_bytes,
                                                   struct seep_target_value *source);

/* value.to(gpu): a value in `block`, of the same source. Takes over the block in any case. 0,
 * -SEEP_ENOMEM, -SEEP_EDEVICE. */
SEEP_MUST_CHECK int seep_target_value_to_gpu(const struct seep_target_value *value,
                                             struct seep_cached_gpu *gpu,
                                             struct seep_caching_block *block,
                                             struct seep_target_value **out);

/* Lets go of a value that is in no dictionary. NULL: nothing. */
void seep_target_value_drop(struct seep_target_value *value);

/* dict[key] = value: takes over the reference, lets go of the old value. NULL: del dict[key]. */
void seep_target_set(struct seep_target *target, enum seep_target_key key,
                     struct seep_target_value *value);

/* copy.copy(): another dictionary of the same values. NULL without memory. */
struct seep_target *seep_target_copy(const struct seep_target *target);

/* copy.deepcopy(): of values of its own; those on a GPU are shared. */
struct seep_target *seep_target_deepcopy(const struct seep_target *target);

void seep_target_free(struct seep_target *target); /* NULL: nothing */

#endif
