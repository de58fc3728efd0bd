#include "libprof/page/page_boxes.h"

#include <stdlib.h>

/* The number of a stack among the callers. */
static int caller_of(struct seep_page_boxes *boxes, const json_t *stack, uint32_t *caller)
{
    *caller = SEEP_HASH_NONE;
    for (size_t i = json_array_size(stack); i-- > 0;) {
        const json_t *frame = json_array_get(stack, i);
        const size_t before = boxes->callers.n;
        if (!json_is_object(frame))
            continue;
        if (seep_frames_add(&boxes->frames, frame))
            return -SEEP_ENOMEM;
        *caller = seep_page_stacks_add(&boxes->callers, *caller,
                                       seep_frames_number(&boxes->frames, frame));
        if (*caller == SEEP_HASH_NONE || seep_grow(&boxes->weights, &boxes->weights_capacity,
                                                   boxes->callers.n, sizeof *boxes->weights))
            return -SEEP_ENOMEM;
        if (boxes->callers.n > before)
            boxes->weights[*caller] = (struct seep_page_weight){0, 0};
    }
    return 0;
}

int seep_page_boxes_add(struct seep_page_boxes *boxes, const json_t *stack,
                        struct seep_page_weight weight, uint32_t number)
{
    uint32_t caller;

    if (caller_of(boxes, stack, &caller) ||
        seep_grow(&boxes->list, &boxes->capacity, boxes->n + 1, sizeof *boxes->list))
        return -SEEP_ENOMEM;
    boxes->list[boxes->n++] = (struct seep_page_small){caller, number};
    if (caller != SEEP_HASH_NONE) {
        boxes->weights[caller].peak += weight.peak;
        boxes->weights[caller].allocated += weight.allocated;
    }
    return 0;
}

void seep_page_boxes_fini(struct seep_page_boxes *boxes)
{
    seep_frames_fini(&boxes->frames);
    seep_page_stacks_fini(&boxes->callers);
    free(boxes->weights);
    free(boxes->list);
}

/* ---- boxes ------------------------------------------------------------------------------- */

/* By box, and in each as they were added: sums of growth depend on the order. */
static int by_caller(const void *a, const void *b)
{
    const struct seep_page_small *p = a, *q = b;

    if (p->caller != q->caller)
        return p->caller < q->caller ? -1 : 1;
    return (p->number > q->number) - (p->number < q->number);
}

/* Adds up what is below each stack. */
static void sum_up(struct seep_page_boxes *boxes)
{
    for (size_t s = boxes->callers.n; s-- > 0;) {
        const uint32_t parent = boxes->callers.list[s].parent;
        if (parent != SEEP_HASH_NONE) {
            boxes->weights[parent].peak += boxes->weights[s].peak;
            boxes->weights[parent].allocated += boxes->weights[s].allocated;
        }
    }
}

/* box[stack]: the nearest caller with a box; may be itself. */
static void find_boxes(struct seep_page_boxes *boxes, struct seep_page_weight limits, uint32_t *box)
{
    for (uint32_t s = 0; s < boxes->callers.n; s++) {
        const uint32_t parent = boxes->callers.list[s].parent;
        const bool is_box = boxes->weights[s].peak >= limits.peak ||
                            boxes->weights[s].allocated >= limits.allocated;
        box[s] = is_box ? s : parent == SEEP_HASH_NONE ? parent : box[parent];
    }
    for (size_t i = 0; i < boxes->n; i++) {
        if (boxes->list[i].caller != SEEP_HASH_NONE)
            boxes->list[i].caller = box[boxes->list[i].caller];
    }
    if (boxes->n)
        qsort(boxes->list, boxes->n, sizeof *boxes->list, by_caller);
}

/* The page's number of a caller. `path` has room for every caller. */
static uint32_t page_caller(const struct seep_page_boxes *boxes, uint32_t caller, uint32_t *path,
                            struct seep_page_tables *tables)
{
    uint32_t stack = SEEP_HASH_NONE;
    size_t depth = 0;

    for (uint32_t s = caller; s != SEEP_HASH_NONE; s = boxes->callers.list[s].parent)
        path[depth++] = boxes->callers.list[s].frame;
    while (depth-- > 0 && !tables->failed) {
        const json_t *frame = boxes->frames.list[path[depth]];
        stack = seep_page_stacks_add(&tables->stacks, stack, seep_page_frame(tables, frame));
        tables->failed |= stack == SEEP_HASH_NONE;
    }
    return stack;
}

void seep_page_boxes_put(struct seep_page_boxes *boxes, struct seep_page_weight limits,
                         seep_page_boxes_taker *take, void *context,
                         struct seep_page_tables *tables, bool *failed)
{
    uint32_t *scratch = calloc(boxes->callers.n + 1, sizeof *scratch);
    const struct seep_page_small *list = boxes->list;

    *failed = *failed || !scratch;
    if (!*failed) {
        sum_up(boxes);
        find_boxes(boxes, limits, scratch);
    }
    for (size_t i = 0, k; i < boxes->n && !*failed; i += k) {
        for (k = 1; i + k < boxes->n && list[i + k].caller == list[i].caller;)
            k++;
        take(context, &list[i], k, page_caller(boxes, list[i].caller, scratch, tables), tables,
             failed);
    }
    free(scratch);
}
