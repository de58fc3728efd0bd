#include "libprof/who/retained/dominators.h"

#include <stdlib.h>
#include <string.h>

/* Lengauer and Tarjan, "A Fast Algorithm for Finding Dominators in a Flowgraph" (1979), with path
 * compression. Vertices are numbered by a depth-first search from 1 on; vertex 0 is the parent of
 * all roots. Walks use explicit stacks, since lists may be long. */
struct search {
    const struct seep_refs *refs;
    uint32_t *number; /* [nodes] of the vertex, 0: not met */
    uint32_t *node;   /* [vertices] */
    uint32_t *parent; /* [vertices] in the search's tree; once linked, the ancestor in a forest */
    uint32_t *semi;   /* [vertices] the semidominator, */
    uint32_t *dominator; /* and before it is known, the next edge that the search follows */
    uint32_t *label;     /* [vertices] the vertex with the least semidominator on the path to the
                          * tree's root */
    uint32_t *bucket;    /* [vertices] the first vertex whose semidominator this is, */
    uint32_t *next;      /* [vertices] and the one after it; 0: none */
    uint32_t *stack;     /* [vertices] */
    uint8_t *from_root;  /* [nodes / 8] a bit for each: a root refers to it */
    uint32_t n;          /* vertices, with 0, */
    uint32_t n_sure;     /* of which more than a stale word may lead to */
    uint32_t linked;     /* vertices from this one on are */
};

static int allocate(struct search *s)
{
    const size_t n = (size_t)s->refs->n_nodes + 1;
    uint32_t **const lists[] = {&s->number, &s->node,   &s->parent, &s->semi, &s->dominator,
                                &s->label,  &s->bucket, &s->next,   &s->stack};

    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (!(*lists[i] = calloc(n, sizeof **lists[i])))
            return -SEEP_ENOMEM;
    s->from_root = calloc(n / 8 + 1, sizeof *s->from_root);
    return s->from_root ? 0 : -SEEP_ENOMEM;
}

static void release(struct search *s)
{
    uint32_t *const lists[] = {s->number, s->node,   s->parent, s->semi, s->dominator,
                               s->label,  s->bucket, s->next,   s->stack};

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
    s->stack[(*top)++] = v;
}

static void search_from(struct search *s, uint32_t start)
{
    const struct seep_refs *refs = s->refs;
    size_t top = 0;

    meet(s, start, 0, &top);
    while (top) {
        const uint32_t v = s->stack[top - 1], node = s->node[v];
        if (s->dominator[v] == refs->count[node]) {
            top--;
            continue;
        }
        const uint32_t to = refs->to[refs->first[node] + s->dominator[v]++];
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
        s->from_root[ref->to / 8] |= (uint8_t)(1u << ref->to % 8);
        if (!v)
            search_from(s, ref->to);
    }
}

/* A word on a stack that somebody has left there, or passes on, is no second holder of what a
 * variable holds. */
static void search_all(struct search *s)
{
    s->n = 1;
    search_from_roots(s, false);
    s->n_sure = s->n;
    search_from_roots(s, true);
}

/* The vertex with the least semidominator on the path from `v` up to, but not including, its tree's
 * root. */
static uint32_t least(struct search *s, uint32_t v)
{
    size_t top = 0;

    if (v < s->linked)
        return v;
    for (uint32_t at = v; s->parent[at] >= s->linked; at = s->parent[at])
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
    const struct seep_refs *refs = s->refs;
    const uint32_t node = s->node[v];
    const uint32_t begin = node ? refs->from_end[node - 1] : 0;

    if (s->from_root[node / 8] >> node % 8 & 1)
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
    s->linked = s->n;
    for (uint32_t v = s->n - 1; v >= 1; v--) {
        const uint32_t parent = s->parent[v];
        find_semidominator(s, v);
        s->next[v] = s->bucket[s->semi[v]];
        s->bucket[s->semi[v]] = v;
        s->linked = v;
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

/* Every vertex has a larger number than its dominators. What the search has no more use for becomes
 * the result. */
static void hand_over(struct search *s, struct seep_dominators *d)
{
    for (uint32_t i = 0; i < d->n_nodes; i++)
        if (!s->number[i])
            s->number[i] = SEEP_NODE_NONE;
    for (uint32_t v = 1; v < s->n; v++)
        s->number[s->node[v]] = s->dominator[v] ? s->node[s->dominator[v]] : SEEP_DOMINATED_BY_NONE;
    d->n_order = s->n - 1;
    memmove(s->node, s->node + 1, d->n_order * sizeof *s->node);
    d->by = s->number;
    d->order = s->node;
    s->number = s->node = NULL;
}

static int sum_up(struct seep_dominators *d, const struct seep_node *nodes)
{
    d->retained = calloc((size_t)d->n_nodes + 1, sizeof *d->retained);
    if (!d->retained)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < d->n_order; i++)
        d->retained[d->order[i]] = nodes[d->order[i]].bytes;
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

int seep_dominators_find(struct seep_dominators *d, const struct seep_refs *refs,
                         const struct seep_node *nodes)
{
    struct search s = {.refs = refs};

    *d = (struct seep_dominators){.n_nodes = refs->n_nodes};
    const int rc = allocate(&s);
    if (!rc) {
        search_all(&s);
        find_dominators(&s);
        hand_over(&s, d);
    }
    release(&s);
    return rc || !nodes ? rc : sum_up(d, nodes);
}

void seep_dominators_fini(struct seep_dominators *d)
{
    free(d->by);
    free(d->retained);
    free(d->order);
    *d = (struct seep_dominators){0};
}
