#include "libprof/who/ways/inner.h"

#include <stdlib.h>

#include "libprof/base/error.h"
#include "libprof/base/hash_index.h"
#include "libprof/who/graph/graph.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/reach_passes.h"

/* Numbers that look like addresses of a low heap, told from addresses by where they point. A
 * program that keeps an address inside each block of one kind points to the same place in each, or
 * keeps many of them. */

/* How many words point into each block, and where the first of them points. */
struct seep_inner_hits {
    uint8_t *n;       /* [n_blocks] 255: or more */
    uint64_t *offset; /* [n_blocks] bytes from its start */
};

enum {
    MANY_WORDS = 3, /* so many addresses inside one block are no chance: the block is in use */
    MIN_BLOCKS = 4  /* of a site: fewer may differ by chance */
};

struct hit {
    uint32_t site, node;
    uint64_t offset;
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; inner_hits_fini() in either case. */
static int inner_hits_init(struct seep_inner_hits *hits, const struct seep_heap *heap)
{
    hits->n = calloc(heap->n_blocks + 1u, sizeof *hits->n);
    hits->offset = calloc(heap->n_blocks + 1u, sizeof *hits->offset);
    return hits->n && hits->offset ? 0 : -SEEP_ENOMEM;
}

static void inner_hits_fini(struct seep_inner_hits *hits)
{
    free(hits->n);
    free(hits->offset);
}

/* A word points into a block, so many bytes from its start. */
static void inner_hits_add(struct seep_inner_hits *hits, uint32_t node, uint64_t inside)
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
    if (n < MIN_BLOCKS || 2 * alike >= n)
        return;
    for (size_t i = 0; i < n; i++) {
        if (hits->n[list[i].node] < MANY_WORDS)
            heap->inner[list[i].node] &= (uint8_t)~SEEP_INNER_HOLDS;
    }
}

/* Withdraws heap->inner's mark from blocks of a low heap that only stray numbers point into: if
 * most of the blocks of one site that were hit are hit by few words, each at a different place.
 * Returns 0 or -SEEP_ENOMEM. */
static int inner_hits_drop_strays(const struct seep_inner_hits *hits, struct seep_heap *heap)
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

enum {
    MIN_LOST = 64 << 10, /* the least bytes of a site that are lost */
    MUCH_LOST = 2,       /* and the least share of its bytes, 1/n */
};

static bool may_be_native(const struct seep_heap *heap, uint32_t node)
{
    return heap->nodes[node].kind == SEEP_NODE_NATIVE;
}

/* Whether some site has so much unreached memory that it could be called lost. 1, 0 or
 * -SEEP_ENOMEM. */
static int is_worth(const struct seep_reach *reach)
{
    const struct seep_heap *heap = reach->heap;
    uint32_t most = 0;
    int worth = 0;

    for (uint32_t i = 0; i < heap->n_blocks; i++)
        most = heap->nodes[i].site > most ? heap->nodes[i].site : most;
    uint64_t *all = calloc(2 * ((size_t)most + 1), sizeof *all), *lost = all + most + 1;
    if (!all)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_blocks; i++) {
        const struct seep_node *node = &heap->nodes[i];
        all[node->site] += node->bytes;
        if (reach->distance[i] == SEEP_UNREACHED && may_be_native(heap, i))
            lost[node->site] += node->bytes;
    }
    for (uint32_t s = 1; s <= most && !worth; s++)
        worth = lost[s] >= MIN_LOST && lost[s] >= all[s] / MUCH_LOST;
    free(all);
    return worth;
}

/* Marks blocks of C and C++ that not even a cycle holds. */
static int mark_lost(struct seep_reach *reach)
{
    struct seep_heap *heap = reach->heap;
    struct seep_reach_changes by_cycles;
    int rc = seep_reach_changes_begin(reach, &by_cycles);

    if (!rc)
        rc = seep_cycles_find(reach);
    seep_reach_changes_end(reach);
    for (uint32_t i = 0; i < heap->n_blocks && !rc; i++) {
        if (reach->distance[i] != SEEP_UNREACHED)
            continue;
        if (heap->nodes[i].kind == SEEP_NODE_NATIVE)
            heap->inner[i] |= SEEP_INNER_HOLDS;
    }
    if (!rc)
        seep_reach_swap(reach, &by_cycles);
    seep_reach_changes_fini(&by_cycles);
    return rc;
}

/* Large blocks are believed to their ends, as far as they were read. */
static void mark_whole(struct seep_heap *heap)
{
    for (uint32_t i = 0; i < heap->n_blocks; i++)
        if (heap->nodes[i].bytes > SEEP_NATIVE_SCANNED && may_be_native(heap, i))
            heap->inner[i] |= SEEP_INNER_WHOLE;
    heap->inner_cut = heap->deep_cut;
}

/* The nodes that have an address inside memory that nothing else holds. */
struct finders {
    struct seep_reach *reach;
    struct seep_inner_hits hits;
    uint32_t *nodes;
    size_t n, capacity;
    bool no_memory;
};

static bool leads_inside(const struct seep_heap *heap, const struct seep_edge *edge)
{
    return edge->to < heap->n_blocks && heap->inner[edge->to] & SEEP_INNER_HOLDS;
}

static void find_in_node(struct finders *f, uint32_t node)
{
    struct seep_heap *heap = f->reach->heap;
    struct seep_edge_cursor cursor = seep_heap_edges(heap, node);
    struct seep_edge edge;
    bool found = false;

    while (seep_heap_next(heap, node, &cursor, &edge))
        if (leads_inside(heap, &edge)) {
            inner_hits_add(&f->hits, edge.to, edge.inside);
            found = true;
        }
    if (!found)
        return;
    if (seep_grow(&f->nodes, &f->capacity, f->n + 1, sizeof *f->nodes))
        f->no_memory = true;
    else
        f->nodes[f->n++] = node;
}

static void find_finders(struct finders *f)
{
    const struct seep_reach *reach = f->reach;

    for (size_t i = 0; i < reach->n_root_edges; i++) {
        const struct seep_root_edge *one = &reach->root_edges[i];
        if (seep_reach_believes(reach, one) && leads_inside(reach->heap, &one->edge))
            inner_hits_add(&f->hits, one->edge.to, one->edge.inside);
    }
    for (uint32_t i = 0; i < reach->heap->n_nodes && !f->no_memory; i++)
        if (reach->distance[i] != SEEP_UNREACHED)
            find_in_node(f, i);
}

static int search(struct seep_reach *reach)
{
    struct finders f = {.reach = reach};

    int rc = inner_hits_init(&f.hits, reach->heap);

    if (!rc)
        find_finders(&f);
    if (!rc)
        rc = f.no_memory ? -SEEP_ENOMEM : inner_hits_drop_strays(&f.hits, reach->heap);
    if (!rc)
        rc = seep_reach_again(reach, f.nodes, f.n);
    inner_hits_fini(&f.hits);
    free(f.nodes);
    return rc;
}

int seep_inner_find(struct seep_reach *reach)
{
    struct seep_heap *heap = reach->heap;
    int rc = is_worth(reach);

    if (rc <= 0)
        return rc;
    heap->inner = calloc(heap->n_blocks + 1u, sizeof *heap->inner);
    if (!heap->inner)
        return -SEEP_ENOMEM;
    rc = mark_lost(reach);
    mark_whole(heap);
    return rc ? rc : search(reach);
}
