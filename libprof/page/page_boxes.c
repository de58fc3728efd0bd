#include "libprof/page/page_boxes.h"

#include <stdlib.h>
#include <string.h>

/* The number of a stack among the callers. */
static int caller_of(struct seep_page_boxes *boxes, const json_t *stack, uint32_t *caller)
{
    *caller = SEEP_HASH_NONE;
    for (size_t i = json_array_size(stack); i-- > 0;) {
        const json_t *frame = json_array_get(stack, i);
        if (!json_is_object(frame))
            continue;
        if (seep_frames_add(&boxes->frames, frame))
            return -SEEP_ENOMEM;
        *caller = seep_page_stacks_add(&boxes->callers, *caller,
                                       seep_frames_number(&boxes->frames, frame));
        if (*caller == SEEP_HASH_NONE)
            return -SEEP_ENOMEM;
    }
    return 0;
}

int seep_page_boxes_add(struct seep_page_boxes *boxes, const json_t *stack, uint32_t number)
{
    uint32_t caller;

    if (caller_of(boxes, stack, &caller) ||
        seep_grow(&boxes->list, &boxes->capacity, boxes->n + 1, sizeof *boxes->list))
        return -SEEP_ENOMEM;
    boxes->list[boxes->n++] = (struct seep_page_small){caller, number};
    return 0;
}

void seep_page_boxes_fini(struct seep_page_boxes *boxes)
{
    seep_frames_fini(&boxes->frames);
    seep_page_stacks_fini(&boxes->callers);
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

/* Adds up what is below each stack, in room for all of them. */
static void sum_up(const struct seep_page_boxes *boxes, seep_page_boxes_weigher *weigh,
                   const void *context, enum seep_page_weight_of of, double *sums)
{
    memset(sums, 0, boxes->callers.n * sizeof *sums);
    for (size_t i = 0; i < boxes->n; i++) {
        if (boxes->list[i].caller != SEEP_HASH_NONE)
            sums[boxes->list[i].caller] += weigh(context, boxes->list[i].number).of[of];
    }
    for (size_t s = boxes->callers.n; s-- > 0;) {
        const uint32_t parent = boxes->callers.list[s].parent;
        if (parent != SEEP_HASH_NONE)
            sums[parent] += sums[s];
    }
}

/* Whether each stack has a box. One sum at a time, because stacks are many. NULL without memory. */
static bool *have_boxes(const struct seep_page_boxes *boxes, seep_page_boxes_weigher *weigh,
                        const void *context, struct seep_page_weight limits)
{
    double *sums = malloc((boxes->callers.n + 1) * sizeof *sums);
    bool *have = calloc(boxes->callers.n + 1, sizeof *have);

    for (int of = 0; of < SEEP_PAGE_N_WEIGHTS && sums && have; of++) {
        sum_up(boxes, weigh, context, (enum seep_page_weight_of)of, sums);
        for (size_t s = 0; s < boxes->callers.n; s++)
            have[s] |= sums[s] >= limits.of[of];
    }
    if (!sums) {
        free(have);
        have = NULL;
    }
    free(sums);
    return have;
}

/* box[stack]: the nearest caller with a box; may be itself. */
static void find_boxes(struct seep_page_boxes *boxes, const bool *have, uint32_t *box)
{
    for (uint32_t s = 0; s < boxes->callers.n; s++) {
        const uint32_t parent = boxes->callers.list[s].parent;
        box[s] = have[s] ? s : parent == SEEP_HASH_NONE ? parent : box[parent];
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
                         seep_page_boxes_weigher *weigh, seep_page_boxes_taker *take,
                         const void *context, struct seep_page_tables *tables, bool *failed)
{
    const struct seep_page_small *list = boxes->list;

    seep_pair_fini(&boxes->callers.index); /* no more are added, and the sums need room */
    bool *have = have_boxes(boxes, weigh, context, limits);
    uint32_t *scratch = calloc(boxes->callers.n + 1, sizeof *scratch);
    *failed = *failed || !have || !scratch;
    if (!*failed)
        find_boxes(boxes, have, scratch);
    free(have);
    for (size_t i = 0, k; i < boxes->n && !*failed; i += k) {
        for (k = 1; i + k < boxes->n && list[i + k].caller == list[i].caller;)
            k++;
        take(context, &list[i], k, page_caller(boxes, list[i].caller, scratch, tables), tables,
             failed);
    }
    free(scratch);
}
