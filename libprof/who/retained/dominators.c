#include "libprof/who/retained/dominators.h"

#include <stdlib.h>

/* Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979), with path
 * compression. Vertices are numbered by a depth-first search from 1 on; vertex 0 is the parent of
 * all roots. Walks use explicit stacks, since lists may be long. */
struct search {
    const struct seep_refs *refs;
    uint32_t *number; /* [nodes] of the vertex, 0: not met */
    uint32_t *node;   /* [vertices] */
    uint32_t *parent; /* [vertices] in the search's tree */
    uint32_t *semi;   /* [vertices] the semidominator, */
    uint32_t *dominator;
    uint32_t *ancestor; /* [vertices] in the forest, as far as linked; NO_VERTEX: a tree's root */
    uint32_t *label;    /* [vertices] the vertex with the least semidominator on the path to the
                         * tree's root */
    uint32_t *bucket;   /* [vertices] the first vertex whose semidominator this is, */
    uint32_t *next;     /* [vertices] and the one after it; 0: none */
    uint32_t *stack;    /* [vertices] */
    uint32_t *edge;     /* [vertices] of the node on the stack: the next edge to follow */
    bool *from_root;    /* [nodes] a root refers to it */
    uint32_t n;         /* vertices, with 0, */
    uint32_t n_sure;    /* of which more than a stale word may lead to */
};

#define NO_VERTEX UINT32_MAX

static int allocate(struct search *s)
{
    const size_t n = (size_t)s->refs->n_nodes + 1;
    uint32_t **const lists[] = {&s->number,    &s->node,     &s->parent, &s->semi,
                                &s->dominator, &s->ancestor, &s->label,  &s->bucket,
                                &s->next,      &s->stack,    &s->edge};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!(*lists[i] = calloc(n, sizeof **lists[i])))
            return -SEEP_ENOMEM;
    s->from_root = calloc(n, sizeof *s->from_root);
    return s->from_root ? 0 : -SEEP_ENOMEM;
}

static void release(struct search *s)
{
    uint32_t *const lists[] = {s->number, s->node,   s->parent, s->semi,  s->dominator, s->ancestor,
                               s->label,  s->bucket, s->next,   s->stack, s->edge};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free(lists[i]);
    free(s->from_root);
}

static void meet(struct search *s, uint32_t node, uint32_t parent, size_t *top)
{
    const uint32_t v = s->n++;

    s->number[node] = v;
    s->node[v] = node;
    s->parent[v] = parent;
    s->semi[v] = s->label[v] = v;
    s->ancestor[v] = NO_VERTEX;
    s->stack[(*top)++] = v;
}

static void search_from(struct search *s, uint32_t start)
{
    const struct seep_refs *refs = s->refs;
    size_t top = 0;

    meet(s, start, 0, &top);
    while (top) {
        const uint32_t v = s->stack[top - 1], node = s->node[v];
        if (s->edge[v] == refs->count[node]) {
            top--;
            continue;
        }
        const uint32_t to = refs->to[refs->first[node] + s->edge[v]++];
        if (!s->number[to])
            meet(s, to, v, &top);
    }
}

static void search_from_roots(struct search *s, bool doubtful)
{
    for (size_t i = 0; i < s->refs->n_roots; i++) {
        const struct seep_root_ref *ref = &s->refs->roots[i];
        const uint32_t v = s->number[ref->to];
        if (ref->doubtful != doubtful || (v && v < s->n_sure))
            continue;
        s->from_root[ref->to] = true;
        if (!v)
            search_from(s, ref->to);
    }
}

/* A word on a stack that somebody has left there, or passes on, is no second holder of what a
 * variable holds. */
static void search_all(struct search *s)
{
    s->n = 1;
    s->ancestor[0] = NO_VERTEX;
    search_from_roots(s, false);
    s->n_sure = s->n;
    search_from_roots(s, true);
}

/* The vertex with the least semidominator on the path from `v` up to, but not including, its tree's
 * root. */
static uint32_t least(struct search *s, uint32_t v)
{
    size_t top = 0;

    if (s->ancestor[v] == NO_VERTEX)
        return v;
    for (uint32_t at = v; s->ancestor[s->ancestor[at]] != NO_VERTEX; at = s->ancestor[at])
        s->stack[top++] = at;
    while (top) { /* from the root on, so that each ends up directly below it */
        const uint32_t at = s->stack[--top], above = s->ancestor[at];
        if (s->semi[s->label[above]] < s->semi[s->label[at]])
            s->label[at] = s->label[above];
        s->ancestor[at] = s->ancestor[above];
    }
    return s->label[v];
}

static void find_semidominator(struct search *s, uint32_t v)
{
    const struct seep_refs *refs = s->refs;
    const uint32_t node = s->node[v];
    const uint32_t begin = node ? refs->from_end[node - 1] : 0;

    if (s->from_root[node])
        s->semi[v] = 0;
    for (uint32_t i = begin; i < refs->from_end[node]; i++) {
        const uint32_t from = s->number[refs->from[i]];
        if (!from || (v < s->n_sure && from >= s->n_sure))
            continue;
        const uint32_t semi = s->semi[least(s, from)];
        if (semi < s->semi[v])
            s->semi[v] = semi;
    }
}

static void find_dominators(struct search *s)
{
    for (uint32_t v = s->n - 1; v >= 1; v--) {
        const uint32_t parent = s->parent[v];
        find_semidominator(s, v);
        s->next[v] = s->bucket[s->semi[v]];
        s->bucket[s->semi[v]] = v;
        s->ancestor[v] = parent;
        for (uint32_t k = s->bucket[parent]; k; k = s->next[k]) {
            const uint32_t u = least(s, k);
            s->dominator[k] = s->semi[u] < s->semi[k] ? u : parent;
        }
        s->bucket[parent] = 0;
    }
    for (uint32_t v = 1; v < s->n; v++)
        if (s->dominator[v] != s->semi[v])
            s->dominator[v] = s->dominator[s->dominator[v]];
}

/* Every vertex has a larger number than its dominators. */
static void sum_up(const struct search *s, struct seep_dominators *d, const struct seep_node *nodes)
{
    for (uint32_t v = 1; v < s->n; v++) {
        const uint32_t node = s->node[v];
        d->by[node] = s->dominator[v] ? s->node[s->dominator[v]] : SEEP_DOMINATED_BY_NONE;
        d->retained[node] = nodes[node].bytes;
        d->order[d->n_order++] = node;
    }
    seep_dominators_sum(d, d->retained);
}

void seep_dominators_sum(const struct seep_dominators *d, uint64_t *sizes)
{
    for (uint32_t i = d->n_order; i-- > 0;) {
        const uint32_t node = d->order[i], by = d->by[node];
        if (by != SEEP_DOMINATED_BY_NONE)
            sizes[by] += sizes[node];
    }
}

int seep_dominators_find(struct seep_dominators *d, const struct seep_refs *refs,
                         const struct seep_node *nodes)
{
    const size_t n = (size_t)refs->n_nodes + 1;
    struct search s = {.refs = refs};
    int rc = -SEEP_ENOMEM;

    *d = (struct seep_dominators){.n_nodes = refs->n_nodes};
    d->by = malloc(n * sizeof *d->by);
    d->retained = calloc(n, sizeof *d->retained);
    d->order = malloc(n * sizeof *d->order);
    if (d->by && d->retained && d->order)
        rc = allocate(&s);
    if (!rc) {
        for (size_t i = 0; i < n; i++)
            d->by[i] = SEEP_NODE_NONE;
        search_all(&s);
        find_dominators(&s);
        sum_up(&s, d, nodes);
    }
    release(&s);
    return rc;
}

void seep_dominators_fini(struct seep_dominators *d)
{
    free(d->by);
    free(d->retained);
    free(d->order);
    *d = (struct seep_dominators){0};
}
