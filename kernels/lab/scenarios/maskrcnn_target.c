#include "kernels/lab/scenarios/maskrcnn_target.h"

#include <stdlib.h>
#include <string.h>

static struct seep_target_value *another_owner(struct seep_target_value *value)
{
    value->n_owners++;
    return value;
}

void seep_target_value_drop(struct seep_target_value *value)
{
    while (value && --value->n_owners == 0) {
        struct seep_target_value *source = value->source;
        if (value->on_gpu)
            seep_caching_free(value->gpu->allocator, value->on_gpu);
        free(value->bytes);
        free(value);
        value = source;
    }
}

struct seep_target_value *seep_target_value_create(void *bytes, size_t n_bytes,
                                                   struct seep_target_value *source)
{
    struct seep_target_value *value = bytes ? malloc(sizeof *value) : NULL;

    if (!value) {
        free(bytes);
        return NULL;
    }
    *value = (struct seep_target_value){
        .n_owners = 1, .n_bytes = n_bytes, .bytes = bytes, .source = source};
    if (source)
        another_owner(source);
    return value;
}

int seep_target_value_to_gpu(const struct seep_target_value *value, struct seep_cached_gpu *gpu,
                             struct seep_caching_block *block, struct seep_target_value **out)
{
    struct seep_target_value *moved = malloc(sizeof *moved);
    int rc =
        moved ? seep_cached_gpu_upload(gpu, block, value->bytes, value->n_bytes) : -SEEP_ENOMEM;

    *out = rc ? NULL : moved;
    if (rc) {
        seep_caching_free(gpu->allocator, block);
        free(moved);
        return rc;
    }
    *moved = (struct seep_target_value){.n_owners = 1,
                                        .n_bytes = value->n_bytes,
                                        .on_gpu = block,
                                        .gpu = gpu,
                                        .source = value->source};
    if (moved->source)
        another_owner(moved->source);
    return 0;
}

void seep_target_set(struct seep_target *target, enum seep_target_key key,
                     struct seep_target_value *value)
{
    struct seep_target_value *old = target->of[key];

    target->of[key] = value;
    seep_target_value_drop(old);
}

struct seep_target *seep_target_copy(const struct seep_target *target)
{
    struct seep_target *copy = malloc(sizeof *copy);

    if (!copy)
        return NULL;
    *copy = *target;
    for (int key = 0; key < SEEP_TARGET_KEYS; key++) {
        if (copy->of[key])
            another_owner(copy->of[key]);
    }
    return copy;
}

static struct seep_target_value *copy_value(struct seep_target_value *value)
{
    if (value->on_gpu)
        return another_owner(value);
    void *bytes = malloc(value->n_bytes + 1);
    if (!bytes)
        return NULL;
    if (value->n_bytes)
        memcpy(bytes, value->bytes, value->n_bytes);
    struct seep_target_value *copy = seep_target_value_create(bytes, value->n_bytes, value->source);
    if (copy)
        copy->is_list = value->is_list;
    return copy;
}

struct seep_target *seep_target_deepcopy(const struct seep_target *target)
{
    struct seep_target *copy = calloc(1, sizeof *copy);

    if (!copy)
        return NULL;
    copy->n = target->n;
    for (int key = 0; key < SEEP_TARGET_KEYS; key++) {
        copy->of[key] = target->of[key] ? copy_value(target->of[key]) : NULL;
        if (target->of[key] && !copy->of[key]) {
            seep_target_free(copy);
            return NULL;
        }
    }
    return copy;
}

void seep_target_free(struct seep_target *target)
{
    for (int key = 0; target && key < SEEP_TARGET_KEYS; key++)
        seep_target_value_drop(target->of[key]);
    free(target);
}
