#include "libprof/digest/digest_order.h"

#include <stdlib.h>
#include <string.h>

/* What the comparisons look things up in. */
struct context {
    const struct seep_digest *d;
    const struct seep_digest_order *order;
};

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int compare_texts(const void *a, const void *b, void *context)
{
    const struct context *c = context;

    return strcmp(c->d->texts[*(const uint32_t *)a], c->d->texts[*(const uint32_t *)b]);
}

static int compare_stacks(const void *a, const void *b, void *context)
{
    const struct context *c = context;
    const struct seep_digest_stack *p = &c->d->stacks[*(const uint32_t *)a];
    const struct seep_digest_stack *q = &c->d->stacks[*(const uint32_t *)b];

    for (size_t i = 0; i < p->n && i < q->n; i++) {
        const uint32_t x = c->order->frame_number[c->d->stack_frames[p->at + i]];
        const uint32_t y = c->order->frame_number[c->d->stack_frames[q->at + i]];
        if (x != y)
            return x < y ? -1 : 1;
    }
    if (p->n != q->n)
        return p->n < q->n ? -1 : 1;
    return p->part != q->part ? compare_numbers(p->part, q->part)
                              : (p->look_at > q->look_at) - (p->look_at < q->look_at);
}

static int compare_abouts(const struct context *c, uint32_t a, uint32_t b)
{
    const struct seep_digest_about *p = &c->d->subjects[a - 1], *q = &c->d->subjects[b - 1];
    int order = compare_numbers(p->severity, q->severity);

    if (!order)
        order = compare_numbers(p->pattern, q->pattern);
    if (!order)
        order = compare_numbers(p->part, q->part);
    if (!order)
        order = strcmp(c->d->texts[p->space], c->d->texts[q->space]);
    return order ? order : strcmp(c->d->texts[p->frame], c->d->texts[q->frame]);
}

static int compare_rows(const void *a, const void *b, void *context)
{
    const struct context *c = context;
    const struct seep_digest_key *p = &c->d->rows[*(const uint32_t *)a].key;
    const struct seep_digest_key *q = &c->d->rows[*(const uint32_t *)b].key;
    int order = compare_numbers(p->kind, q->kind);

    if (!order)
        order = strcmp(c->d->texts[p->subject], c->d->texts[q->subject]);
    if (!order && p->kind == SEEP_DIGEST_SITES)
        order = compare_numbers(c->order->stack_number[p->about - 1],
                                c->order->stack_number[q->about - 1]);
    else if (!order && p->kind == SEEP_DIGEST_FINDINGS)
        order = compare_abouts(c, p->about, q->about);
    if (!order)
        order = compare_numbers(p->role, q->role);
    return order ? order : compare_numbers(p->bucket, q->bucket);
}

static int compare_tops(const void *a, const void *b, void *context)
{
    const struct context *c = context;
    const struct seep_digest_top *p = &c->d->extremes[*(const uint32_t *)a];
    const struct seep_digest_top *q = &c->d->extremes[*(const uint32_t *)b];
    int order = strcmp(c->d->texts[p->subject], c->d->texts[q->subject]);

    if (!order)
        order = compare_numbers(p->role, q->role);
    return order ? order : compare_numbers(p->low, q->low);
}

static int compare_cells(const void *a, const void *b, void *context)
{
    const struct context *c = context;
    const struct seep_digest_cell *p = &c->d->cells[*(const uint32_t *)a];
    const struct seep_digest_cell *q = &c->d->cells[*(const uint32_t *)b];
    int order = compare_numbers(p->node, q->node);

    return order ? order : compare_numbers(p->local_rank, q->local_rank);
}

static uint32_t *all(size_t n)
{
    uint32_t *list = calloc(n + 1, sizeof *list);

    for (size_t i = 0; list && i < n; i++)
        list[i] = (uint32_t)i;
    return list;
}

static void sort(const struct context *c, uint32_t *list, size_t n,
                 int compare(const void *, const void *, void *))
{
    struct context copy = *c;

    if (n)
        qsort_r(list, n, sizeof *list, compare, &copy);
}

/* A number of 1 marks what is referred to, until it has its own. */
static void mark(struct seep_digest_order *order, const struct seep_digest *d)
{
    for (size_t i = 0; i < d->n_rows; i++) {
        const struct seep_digest_key *key = &d->rows[i].key;
        if (key->kind == SEEP_DIGEST_FINDINGS && d->subjects[key->about - 1].frame)
            order->frame_number[d->subjects[key->about - 1].frame] = 1;
        if (key->kind != SEEP_DIGEST_SITES)
            continue;
        const struct seep_digest_stack *stack = &d->stacks[key->about - 1];
        order->stack_number[key->about - 1] = 1;
        for (size_t k = 0; k < stack->n; k++)
            order->frame_number[d->stack_frames[stack->at + k]] = 1;
    }
}

static uint32_t *marked(const uint32_t *number, size_t n, size_t *n_marked)
{
    uint32_t *list = calloc(n + 1, sizeof *list);

    for (size_t i = 0; list && i < n; i++)
        if (number[i])
            list[(*n_marked)++] = (uint32_t)i;
    return list;
}

int seep_digest_order_init(struct seep_digest_order *order, const struct seep_digest *d)
{
    const struct context c = {d, order};

    *order = (struct seep_digest_order){0};
    order->frame_number = calloc(d->n_texts + 1, sizeof *order->frame_number);
    order->stack_number = calloc(d->n_stacks + 1, sizeof *order->stack_number);
    order->rows = all(d->n_rows);
    order->extremes = all(d->n_tops);
    order->cells = all(d->n_cells);
    if (!order->frame_number || !order->stack_number || !order->rows || !order->extremes ||
        !order->cells)
        return -SEEP_ENOMEM;
    mark(order, d);
    order->frames = marked(order->frame_number, d->n_texts, &order->n_frames);
    order->stacks = marked(order->stack_number, d->n_stacks, &order->n_stacks);
    if (!order->frames || !order->stacks)
        return -SEEP_ENOMEM;
    sort(&c, order->frames, order->n_frames, compare_texts);
    for (size_t i = 0; i < order->n_frames; i++)
        order->frame_number[order->frames[i]] = (uint32_t)i;
    sort(&c, order->stacks, order->n_stacks, compare_stacks);
    for (size_t i = 0; i < order->n_stacks; i++)
        order->stack_number[order->stacks[i]] = (uint32_t)i;
    sort(&c, order->rows, d->n_rows, compare_rows);
    sort(&c, order->extremes, d->n_tops, compare_tops);
    sort(&c, order->cells, d->n_cells, compare_cells);
    return 0;
}

void seep_digest_order_fini(struct seep_digest_order *order)
{
    free(order->frames);
    free(order->frame_number);
    free(order->stacks);
    free(order->stack_number);
    free(order->rows);
    free(order->extremes);
    free(order->cells);
    *order = (struct seep_digest_order){0};
}
