#include "libprof/who/retained/dominators.h"

#include "libprof/who/retained/dominator_tree.h"
#include "libprof/who/survey/survey.h"

#include <stdlib.h>
#include <string.h>

/* Leaves have no part in who dominates the others: a leaf's dominator is the nearest vertex that is
 * above all that refer to it. For that each vertex knows its depth and one that is far above it
 * (Myers, "An Applicative Random-Access Stack", 1983). */
struct leaves {
    struct seep_dominators *d;
    const struct seep_reach *reach;
    struct seep_dominator_tree tree;
    uint32_t *depth, *far; /* [vertices] */
    uint32_t *above;       /* [nodes] of leaves: the vertex; SEEP_NODE_NONE: none was met */
    uint8_t *sure;         /* [nodes / 8 + 1] a bit for each leaf that more than doubtful words
                            * lead to */
};

static uint32_t far_above(const struct leaves *l, uint32_t above)
{
    const uint32_t far = l->far[above], farther = l->far[far];

    return l->depth[above] - l->depth[far] == l->depth[far] - l->depth[farther] ? farther : above;
}

static void measure(struct leaves *l)
{
    for (uint32_t v = 1; v < l->tree.n; v++) { /* those above come first */
        const uint32_t above = l->tree.above[v];
        l->depth[v] = l->depth[above] + 1;
        l->far[v] = far_above(l, above);
    }
}

/* The nearest vertex above both, which may be one of them. */
static uint32_t common(const struct leaves *l, uint32_t a, uint32_t b)
{
    const uint32_t *depth = l->depth, *far = l->far, *above = l->tree.above;

    if (depth[a] < depth[b]) {
        const uint32_t deeper = b;
        b = a;
        a = deeper;
    }
    while (depth[a] > depth[b])
        a = depth[far[a]] >= depth[b] ? far[a] : above[a];
    while (a != b) {
        const bool jump = far[a] != far[b];
        a = jump ? far[a] : above[a];
        b = jump ? far[b] : above[b];
    }
    return a;
}

static void take_leaf(struct leaves *l, uint32_t leaf, uint32_t from, bool sure)
{
    const uint8_t bit = (uint8_t)(1u << leaf % 8);

    if (!sure && l->sure[leaf / 8] & bit)
        return;
    l->above[leaf] = l->above[leaf] == SEEP_NODE_NONE ? from : common(l, l->above[leaf], from);
    if (sure)
        l->sure[leaf / 8] |= bit;
}

static bool is_leaf(const struct leaves *l, uint32_t node)
{
    return seep_node_is_leaf(l->reach->heap, node);
}

static void take_roots(struct leaves *l, bool doubtful)
{
    for (size_t i = 0; i < l->reach->n_root_edges; i++) {
        const struct seep_root_edge *one = &l->reach->root_edges[i];
        if (one->doubtful == doubtful && is_leaf(l, one->edge.to) &&
            seep_reach_believes(l->reach, one))
            take_leaf(l, one->edge.to, 0, !doubtful);
    }
}

static void take_edges(struct leaves *l, uint32_t first, uint32_t end)
{
    const struct seep_heap *heap = l->reach->heap;
    struct seep_edge edge;

    for (uint32_t v = first; v < end; v++) {
        const uint32_t node = l->tree.node[v];
        struct seep_edge_cursor cursor = seep_heap_edges(heap, node);
        while (seep_heap_next(heap, node, &cursor, &edge))
            if (is_leaf(l, edge.to))
                take_leaf(l, edge.to, v, v < l->tree.n_sure);
    }
}

static int find_leaves(struct leaves *l)
{
    l->depth = calloc(l->tree.n, sizeof *l->depth);
    l->far = calloc(l->tree.n, sizeof *l->far);
    l->sure = calloc(l->d->n_nodes / 8 + (size_t)1, sizeof *l->sure);
    if (!l->depth || !l->far || !l->sure)
        return -SEEP_ENOMEM;
    measure(l);
    take_roots(l, false);
    take_edges(l, 1, l->tree.n_sure);
    take_roots(l, true);
    take_edges(l, l->tree.n_sure, l->tree.n);
    return 0;
}

/* Leaves come behind all that may dominate them. */
static int hand_over(struct leaves *l)
{
    struct seep_dominators *d = l->d;

    for (uint32_t i = 0; i < d->n_nodes; i++) {
        const uint32_t vertex = l->tree.vertex[i];
        if (!is_leaf(l, i))
            d->by[i] = vertex ? l->tree.above[vertex] : SEEP_NODE_NONE;
        d->n_order += d->by[i] != SEEP_NODE_NONE;
    }
    d->order = malloc((d->n_order + (size_t)1) * sizeof *d->order);
    if (!d->order)
        return -SEEP_ENOMEM;
    uint32_t n = l->tree.n - 1;
    memcpy(d->order, l->tree.node + 1, n * sizeof *d->order);
    for (uint32_t i = 0; i < d->n_nodes; i++) {
        if (d->by[i] == SEEP_NODE_NONE)
            continue;
        d->by[i] = d->by[i] ? l->tree.node[d->by[i]] : SEEP_DOMINATED_BY_NONE;
        if (is_leaf(l, i))
            d->order[n++] = i;
    }
    return 0;
}

static int find(struct leaves *l)
{
    struct seep_dominators *d = l->d;
    int rc = seep_dominator_tree_find(&l->tree, l->reach);

    if (rc)
        return rc;
    d->by = l->above = malloc((d->n_nodes + (size_t)1) * sizeof *d->by);
    if (!d->by)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < d->n_nodes; i++)
        d->by[i] = SEEP_NODE_NONE;
    rc = find_leaves(l);
    return rc ? rc : hand_over(l);
}

static int sum_up(struct seep_dominators *d, const struct seep_heap *heap)
{
    d->retained = calloc((size_t)d->n_nodes + 1, sizeof *d->retained);
    if (!d->retained)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < d->n_order; i++)
        d->retained[d->order[i]] = seep_node_bytes(heap, d->order[i]);
    seep_dominators_sum(d, d->retained);
    return 0;
}

void seep_dominators_sum(const struct seep_dominators *d, uint64_t *sizes)
{
    for (uint32_t i = d->n_order; i-- > 0;) {
        const uint32_t node = d->order[i], by = d->by[node];
        if (by != SEEP_DOMINATED_BY_NONE)
            sizes[by] += sizes[node];
    }
}

int seep_dominators_find(struct seep_dominators *d, const struct seep_reach *reach, bool with_sizes)
{
    struct leaves l = {.d = d, .reach = reach};

    *d = (struct seep_dominators){.n_nodes = reach->heap->n_nodes};
    const int rc = find(&l);
    seep_dominator_tree_fini(&l.tree);
    free(l.depth);
    free(l.far);
    free(l.sure);
    return rc || !with_sizes ? rc : sum_up(d, reach->heap);
}

void seep_dominators_fini(struct seep_dominators *d)
{
    free(d->by);
    free(d->retained);
    free(d->order);
    *d = (struct seep_dominators){0};
}
