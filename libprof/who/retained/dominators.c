#include "libprof/who/retained/dominators.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/base/hash_index.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/reach.h"

/* Dominators of the nodes that are no leaves, as a tree of vertices. */

/* Vertices are numbered by a depth-first search from 1 on; vertex 0 is above all that roots reach.
 */
struct seep_dominator_tree {
    uint32_t *vertex; /* [nodes] 0: a leaf, or no root reaches it */
    uint32_t *node;   /* [n] */
    uint32_t *above;  /* [n] the vertex that dominates it directly, of a smaller number */
    uint32_t n;       /* vertices, with 0, */
    uint32_t n_sure;  /* of which those from here on are reached by doubtful words alone */
};

/* Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979), with path
 * compression. Walks use explicit stacks, since lists may be long. */
struct search {
    struct seep_dominator_tree *tree;
    const struct seep_reach *reach;
    uint32_t *parent;   /* [vertices] in the search's tree; once linked, the ancestor in a forest */
    uint32_t *semi;     /* [vertices] the semidominator */
    uint32_t *label;    /* [vertices] the vertex with the least semidominator on the path to the
                         * tree's root */
    uint32_t *bucket;   /* [vertices] the first vertex whose semidominator this is; as long as it is
                         * in there, `above` of the tree has the next one; 0: none */
    uint32_t *n_from;   /* [nodes] how many vertices refer to each, but for its parent, */
    uint32_t *from;     /* and which, by vertex */
    uint32_t *from_end; /* [vertices] in `from` */
    struct seep_edge_cursor *open; /* on the search's way: the edges that are left, */
    uint32_t *stack;               /* and on any way the vertices */
    size_t stack_capacity, open_capacity;
    uint8_t *from_root; /* [vertices / 8 + 1] a bit for each: a root refers to it */
    uint32_t linked;    /* vertices from this one on are */
    bool no_memory;
};

static int make(uint32_t **list, size_t n)
{
    *list = calloc(n, sizeof **list);
    return *list ? 0 : -SEEP_ENOMEM;
}

static void release(struct search *s)
{
    uint32_t *const lists[] = {s->parent, s->semi, s->label,    s->bucket,
                               s->n_from, s->from, s->from_end, s->stack};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    free(s->open);
    free(s->from_root);
}

/* Ways are mostly short; that through a linked list is as long as the list. */
static bool has_room(struct search *s, size_t top)
{
    if (!seep_grow(&s->stack, &s->stack_capacity, top + 1, sizeof *s->stack))
        return true;
    s->no_memory = true;
    return false;
}

/* ---- numbering ------------------------------------------------------------------------------- */

static void meet(struct search *s, uint32_t node, uint32_t parent, size_t *top)
{
    struct seep_dominator_tree *tree = s->tree;
    const uint32_t v = tree->n;

    if (!has_room(s, *top) || seep_grow(&s->open, &s->open_capacity, *top + 1, sizeof *s->open)) {
        s->no_memory = true;
        return;
    }
    tree->n++;
    tree->vertex[node] = v;
    tree->node[v] = node;
    s->parent[v] = parent;
    s->stack[*top] = v;
    s->open[(*top)++] = seep_heap_edges(s->reach->heap, node);
}

/* What only doubtful words reach is no second holder, either. The parent is known. */
static bool counts(const struct search *s, uint32_t from, uint32_t to)
{
    return to && from != s->parent[to] && !(to < s->tree->n_sure && from >= s->tree->n_sure);
}

static void search_from(struct search *s, uint32_t start)
{
    const struct seep_heap *heap = s->reach->heap;
    struct seep_edge edge;
    size_t top = 0;

    meet(s, start, 0, &top);
    while (top && !s->no_memory) {
        const uint32_t v = s->stack[top - 1];
        if (!seep_heap_next(heap, s->tree->node[v], &s->open[top - 1], &edge)) {
            top--;
            continue;
        }
        if (seep_node_is_leaf(heap, edge.to))
            continue;
        const uint32_t to = s->tree->vertex[edge.to];
        s->n_from[edge.to] += counts(s, v, to);
        if (!to)
            meet(s, edge.to, v, &top);
    }
}

static void search_from_roots(struct search *s, bool doubtful)
{
    struct seep_dominator_tree *tree = s->tree;

    for (size_t i = 0; i < s->reach->n_root_edges && !s->no_memory; i++) {
        const struct seep_root_edge *one = &s->reach->root_edges[i];
        const uint32_t to = one->edge.to;
        if (seep_node_is_leaf(s->reach->heap, to) || one->doubtful != doubtful ||
            !seep_reach_believes(s->reach, one))
            continue;
        const uint32_t v = tree->vertex[to];
        if (v && v < tree->n_sure)
            continue;
        if (!v)
            search_from(s, to);
        s->from_root[tree->vertex[to] / 8] |= (uint8_t)(1u << tree->vertex[to] % 8);
    }
}

/* A word on a stack that somebody has left there, or passes on, is no second holder of what a
 * variable holds. */
static int number(struct search *s)
{
    const size_t n = (size_t)s->reach->heap->survey->n_inner + 1;
    const size_t n_nodes = (size_t)s->reach->heap->n_nodes + 1;

    s->from_root = calloc(n / 8 + 1, sizeof *s->from_root);
    if (!s->from_root || make(&s->tree->vertex, n_nodes) || make(&s->n_from, n_nodes) ||
        make(&s->tree->node, n) || make(&s->parent, n))
        return -SEEP_ENOMEM;
    s->tree->n = 1;
    search_from_roots(s, false);
    s->tree->n_sure = s->tree->n;
    search_from_roots(s, true);
    return s->no_memory ? -SEEP_ENOMEM : 0;
}

/* ---- who refers to whom ---------------------------------------------------------------------- */

static void place_referrers(struct search *s)
{
    const struct seep_heap *heap = s->reach->heap;
    struct seep_edge edge;

    for (uint32_t v = 1; v < s->tree->n; v++) {
        const uint32_t node = s->tree->node[v];
        struct seep_edge_cursor cursor = seep_heap_edges(heap, node);
        while (seep_heap_next(heap, node, &cursor, &edge)) {
            const uint32_t to = s->tree->vertex[edge.to];
            if (counts(s, v, to))
                s->from[s->from_end[to]++] = v;
        }
    }
}

/* How many refer to each is known since all were numbered. */
static int find_referrers(struct search *s)
{
    uint32_t sum = 0;

    if (make(&s->from_end, s->tree->n))
        return -SEEP_ENOMEM;
    for (uint32_t v = 1; v < s->tree->n; v++) {
        s->from_end[v] = sum; /* where they begin; once all are placed, where they end */
        sum += s->n_from[s->tree->node[v]];
    }
    if (make(&s->from, (size_t)sum + 1))
        return -SEEP_ENOMEM;
    place_referrers(s);
    free(s->n_from);
    s->n_from = NULL;
    return 0;
}

/* ---- dominators ------------------------------------------------------------------------------ */

/* The vertex with the least semidominator on the path from `v` up to, but not including, its tree's
 * root. */
static uint32_t least(struct search *s, uint32_t v)
{
    size_t top = 0;

    if (v < s->linked)
        return v;
    for (uint32_t at = v; s->parent[at] >= s->linked && has_room(s, top); at = s->parent[at])
        s->stack[top++] = at;
    while (top) { /* from the root on, so that each ends up directly below it */
        const uint32_t at = s->stack[--top], above = s->parent[at];
        if (s->semi[s->label[above]] < s->semi[s->label[at]])
            s->label[at] = s->label[above];
        s->parent[at] = s->parent[above];
    }
    return s->label[v];
}

static void find_semidominator(struct search *s, uint32_t v)
{
    s->semi[v] = s->from_root[v / 8] >> v % 8 & 1 ? 0 : s->parent[v];
    for (uint32_t i = s->from_end[v - 1]; i < s->from_end[v]; i++) {
        const uint32_t semi = s->semi[least(s, s->from[i])];
        if (semi < s->semi[v])
            s->semi[v] = semi;
    }
}

static void find_dominators(struct search *s)
{
    uint32_t *above = s->tree->above;

    s->linked = s->tree->n;
    for (uint32_t v = s->tree->n - 1; v >= 1; v--) {
        const uint32_t parent = s->parent[v];
        find_semidominator(s, v);
        above[v] = s->bucket[s->semi[v]];
        s->bucket[s->semi[v]] = v;
        s->linked = v;
        for (uint32_t k = s->bucket[parent], next; k; k = next) {
            const uint32_t u = least(s, k);
            next = above[k];
            above[k] = s->semi[u] < s->semi[k] ? u : parent;
        }
        s->bucket[parent] = 0;
    }
    for (uint32_t v = 1; v < s->tree->n; v++)
        if (above[v] != s->semi[v])
            above[v] = above[above[v]];
}

static int find_root(struct search *s)
{
    const size_t n = s->tree->n;

    if (make(&s->tree->above, n) || make(&s->semi, n) || make(&s->label, n) || make(&s->bucket, n))
        return -SEEP_ENOMEM;
    for (uint32_t v = 0; v < s->tree->n; v++)
        s->semi[v] = s->label[v] = v;
    find_dominators(s);
    return s->no_memory ? -SEEP_ENOMEM : 0;
}

/* Returns 0 or -SEEP_ENOMEM. Allocates; dominator_tree_fini() in either case. */
static int dominator_tree_find(struct seep_dominator_tree *tree, const struct seep_reach *reach)
{
    struct search s = {.tree = tree, .reach = reach};

    *tree = (struct seep_dominator_tree){0};
    int rc = number(&s);
    if (!rc)
        rc = find_referrers(&s);
    if (!rc)
        rc = find_root(&s);
    release(&s);
    return rc;
}

static void dominator_tree_fini(struct seep_dominator_tree *tree)
{
    free(tree->vertex);
    free(tree->node);
    free(tree->above);
    *tree = (struct seep_dominator_tree){0};
}

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
    int rc = dominator_tree_find(&l->tree, l->reach);

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
    dominator_tree_fini(&l.tree);
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
