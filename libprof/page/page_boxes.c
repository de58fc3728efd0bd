#include "libprof/page/page_boxes.h"

#include <stdlib.h>

struct work {
    struct seep_page_tables callers; /* stacks of small ones only: few get into the page */
    double *peak, *allocated;        /* [stacks] sums over each stack and those below it */
    uint32_t *box;                   /* [stacks] the nearest caller with a box; may be itself */
};

static int by_caller(const void *a, const void *b)
{
    const struct seep_page_small *p = a, *q = b;

    return (p->caller > q->caller) - (p->caller < q->caller);
}

/* Returns 0 or -SEEP_ENOMEM. */
static int work_init(struct work *w, struct seep_page_small *list, size_t n)
{
    seep_page_tables_init(&w->callers);
    for (size_t i = 0; i < n; i++)
        list[i].caller = seep_page_stack(&w->callers, list[i].stack);
    w->peak = calloc(w->callers.n_stacks + 1, sizeof *w->peak);
    w->allocated = calloc(w->callers.n_stacks + 1, sizeof *w->allocated);
    w->box = calloc(w->callers.n_stacks + 1, sizeof *w->box);
    return w->callers.failed || !w->peak || !w->allocated || !w->box ? -SEEP_ENOMEM : 0;
}

static void work_fini(struct work *w)
{
    seep_page_tables_fini(&w->callers);
    free(w->peak);
    free(w->allocated);
    free(w->box);
}

static void sum_up(struct work *w, const struct seep_page_small *list, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (list[i].caller == SEEP_HASH_NONE)
            continue;
        w->peak[list[i].caller] += list[i].peak;
        w->allocated[list[i].caller] += list[i].allocated;
    }
    for (size_t s = w->callers.n_stacks; s-- > 0;) {
        const uint32_t parent = w->callers.stacks[s].parent;
        if (parent != SEEP_HASH_NONE) {
            w->peak[parent] += w->peak[s];
            w->allocated[parent] += w->allocated[s];
        }
    }
}

static void find_boxes(struct work *w, struct seep_page_small *list, size_t n,
                       const struct seep_page_boxes *boxes)
{
    for (uint32_t s = 0; s < w->callers.n_stacks; s++) {
        const uint32_t parent = w->callers.stacks[s].parent;
        const bool is_box = w->peak[s] >= boxes->peak || w->allocated[s] >= boxes->allocated;
        w->box[s] = is_box ? s : parent == SEEP_HASH_NONE ? parent : w->box[parent];
    }
    for (size_t i = 0; i < n; i++) {
        if (list[i].caller != SEEP_HASH_NONE)
            list[i].caller = w->box[list[i].caller];
    }
    qsort(list, n, sizeof *list, by_caller);
}

/* The page's number of a caller: from the outer frames of the stack of any small one below it. */
static uint32_t page_caller(const struct work *w, const struct seep_page_small *one,
                            struct seep_page_tables *tables)
{
    size_t depth = 0;

    for (uint32_t s = one->caller; s != SEEP_HASH_NONE; s = w->callers.stacks[s].parent)
        depth++;
    return seep_page_outer_stack(tables, one->stack, depth);
}

void seep_page_boxes(struct seep_page_small *list, size_t n, const struct seep_page_boxes *boxes,
                     struct seep_page_tables *tables, bool *failed)
{
    struct work w = {0};

    *failed = work_init(&w, list, n) || *failed;
    if (n && !*failed) {
        sum_up(&w, list, n);
        find_boxes(&w, list, n, boxes);
    }
    for (size_t i = 0, k; i < n && !*failed; i += k) {
        for (k = 1; i + k < n && list[i + k].caller == list[i].caller;)
            k++;
        boxes->take(boxes->columns, &list[i], k, page_caller(&w, &list[i], tables), tables, failed);
    }
    work_fini(&w);
}
