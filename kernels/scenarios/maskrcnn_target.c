#include "kernels/scenarios/maskrcnn_target.h"

#include <stdlib.h>
#include <string.h>

static void let_go(struct seep_target_value *value)
{
    while (value && --value->n_owners == 0) {
        struct seep_target_value *source = value->source;
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
        source->n_owners++;
    return value;
}

void seep_target_set(struct seep_target *target, enum seep_target_key key,
                     struct seep_target_value *value)
{
    struct seep_target_value *old = target->of[key];

    target->of[key] = value;
    let_go(old);
}

struct seep_target *seep_target_copy(const struct seep_target *target)
{
    struct seep_target *copy = malloc(sizeof *copy);

    if (!copy)
        return NULL;
    *copy = *target;
    for (int key = 0; key < SEEP_TARGET_KEYS; key++) {
        if (copy->of[key])
            copy->of[key]->n_owners++;
    }
    return copy;
}

static struct seep_target_value *copy_value(const struct seep_target_value *value)
{
    void *bytes = malloc(value->n_bytes + 1);

    if (!bytes)
        return NULL;
    if (value->n_bytes)
        memcpy(bytes, value->bytes, value->n_bytes);
    return seep_target_value_create(bytes, value->n_bytes, value->source);
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
        let_go(target->of[key]);
    free(target);
}
