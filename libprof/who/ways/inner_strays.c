#include "libprof/who/ways/inner_strays.h"

#include <stdlib.h>

enum {
    MANY_WORDS = 3,  /* so many addresses inside one block are no chance: the block is in use */
    LEAST_BLOCKS = 4 /* of a site: fewer may differ by chance */
};

struct hit {
    uint32_t site, node;
    uint64_t offset;
};

int seep_inner_hits_init(struct seep_inner_hits *hits, const struct seep_heap *heap)
{
    hits->n = calloc(heap->n_blocks + 1u, sizeof *hits->n);
    hits->offset = calloc(heap->n_blocks + 1u, sizeof *hits->offset);
    return hits->n && hits->offset ? 0 : -SEEP_ENOMEM;
}

void seep_inner_hits_fini(struct seep_inner_hits *hits)
{
    free(hits->n);
    free(hits->offset);
}

void seep_inner_hits_add(struct seep_inner_hits *hits, uint32_t node, uint64_t inside)
{
    if (!hits->n[node])
        hits->offset[node] = inside;
    if (hits->n[node] < UINT8_MAX)
        hits->n[node]++;
}

static int by_site(const void *a, const void *b)
{
    const struct hit *p = a, *q = b;

    if (p->site != q->site)
        return p->site < q->site ? -1 : 1;
    if (p->offset != q->offset)
        return p->offset < q->offset ? -1 : 1;
    return (p->node > q->node) - (p->node < q->node);
}

static bool is_alike(const struct hit *list, size_t i, size_t n)
{
    return (i > 0 && list[i - 1].offset == list[i].offset) ||
           (i + 1 < n && list[i + 1].offset == list[i].offset);
}

/* Judges the blocks of one site. */
static void judge_site(const struct seep_inner_hits *hits, struct seep_heap *heap,
                       const struct hit *list, size_t n)
{
    size_t alike = 0;

    for (size_t i = 0; i < n; i++)
        alike += hits->n[list[i].node] >= MANY_WORDS || is_alike(list, i, n);
    if (n < LEAST_BLOCKS || 2 * alike >= n)
        return;
    for (size_t i = 0; i < n; i++) {
        if (hits->n[list[i].node] < MANY_WORDS)
            heap->inner[list[i].node] &= (uint8_t)~SEEP_INNER_HOLDS;
    }
}

int seep_inner_hits_drop_strays(const struct seep_inner_hits *hits, struct seep_heap *heap)
{
    struct hit *list;
    size_t n = 0;

    for (uint32_t i = 0; i < heap->n_blocks; i++)
        n += hits->n[i] && seep_heap_is_low(heap->nodes[i].start);
    list = malloc((n + 1) * sizeof *list);
    if (!list)
        return -SEEP_ENOMEM;
    n = 0;
    for (uint32_t i = 0; i < heap->n_blocks; i++) {
        if (hits->n[i] && seep_heap_is_low(heap->nodes[i].start))
            list[n++] = (struct hit){heap->nodes[i].site, i, hits->offset[i]};
    }
    if (n)
        qsort(list, n, sizeof *list, by_site);
    for (size_t i = 0, end; i < n; i = end) {
        for (end = i; end < n && list[end].site == list[i].site;)
            end++;
        judge_site(hits, heap, list + i, end - i);
    }
    free(list);
    return 0;
}
