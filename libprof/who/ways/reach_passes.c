#include "libprof/who/ways/reach_passes.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/base/hash_index.h"
#include "libprof/who/graph/py_types.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/path.h"

/* torch derives a class for the backward pass of each operator, for gradient accumulation, and for
 * the user's own functions. */
static bool is_node_of_graph(const struct seep_reach *reach, uint32_t node)
{
    static const char *const marks[] = {"Backward", "AccumulateGrad", "CopySlices",
                                        "autograd::PyNode"};
    const char *name = seep_node_class(reach->heap, node);

    for (size_t i = 0; i < sizeof marks / sizeof *marks; i++) {
        if (strstr(name, marks[i]))
            return true;
    }
    return false;
}

bool seep_graph_holds(const struct seep_reach *reach, uint32_t node, uint8_t *known)
{
    uint32_t top = node;
    uint8_t found = SEEP_GRAPH_OUTSIDE;

    for (; !(top & SEEP_REACH_ROOT); top = reach->parent[top]) {
        if (known[top])
            found = known[top];
        else if (is_node_of_graph(reach, top))
            found = known[top] = SEEP_GRAPH_WITHIN;
        if (known[top])
            break;
    }
    for (; node != top; node = reach->parent[node])
        known[node] = found;
    return found == SEEP_GRAPH_WITHIN;
}

enum {
    CONTAINER = 0, /* a container says more about the place than its contents, */
    OTHER = 20,    /* so the path begins at the container */
};

int seep_references_find(struct seep_reach *reach)
{
    struct seep_heap *heap = reach->heap;

    if (!heap->python.layout)
        return 0;
    if (seep_reach_settle(reach))
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < heap->n_nodes; i++) {
        if (reach->distance[i] != SEEP_UNREACHED || !heap->nodes[i].is_overcounted ||
            !heap->nodes[i].bytes)
            continue;
        const struct seep_pytype *type = seep_node_type(heap, i);
        if (type)
            seep_reach_add(reach, SEEP_ROOT_REFERENCE, i,
                           type->flags & SEEP_PY_GC ? CONTAINER : OTHER);
    }
    heap->owners_only = true;
    const int rc = seep_reach_go_on(reach);
    heap->owners_only = false;
    seep_reach_unsettle(reach);
    return rc;
}

/* What the variable refers to at which a way begins: behind a module and its dict. */
static uint32_t value_of(const struct seep_reach *reach, const uint32_t *nodes, size_t n)
{
    size_t i = 0;

    for (; i + 1 < n; i++) {
        const struct seep_pytype *type = seep_node_type(reach->heap, nodes[i]);
        if (!type || (type->kind != SEEP_PYTYPE_MODULE &&
                      (type->kind != SEEP_PYTYPE_DICT ||
                       seep_label_kind(seep_reach_label(reach, nodes[i])) != SEEP_LABEL_HIDDEN)))
            break;
    }
    return nodes[i];
}

/* Where the native end of the way begins; n: it has none. */
static size_t native_end(const struct seep_reach *reach, const uint32_t *nodes, size_t n)
{
    size_t i = n;

    while (i && !seep_node_type(reach->heap, nodes[i - 1]))
        i--;
    return i;
}

void seep_shared_begin(struct seep_shared *s, struct seep_reach *reach, uint32_t holder)
{
    *s = (struct seep_shared){.reach = reach, .node = SEEP_NODE_NONE};
    if (reach->distance[holder] == SEEP_UNREACHED)
        return;
    s->n = seep_path_begin(reach, holder, s->nodes, SEEP_SHARED_NEAR);
    s->from = s->n > SEEP_SHARED_NEAR ? s->n : native_end(reach, s->nodes, s->n);
    if (s->from && s->from < s->n)
        s->node = s->nodes[s->from];
}

int seep_shared_leave_out(struct seep_shared *s, bool *more)
{
    struct seep_reach *reach = s->reach;
    uint32_t nodes[SEEP_SHARED_NEAR];
    const size_t n = seep_path_begin(reach, s->node, nodes, SEEP_SHARED_NEAR);

    *more = n <= SEEP_SHARED_NEAR && s->n_left_out < SEEP_REACH_EXCLUDED &&
            native_end(reach, nodes, n) > 0;
    if (!*more)
        return 0;
    const uint32_t value = value_of(reach, nodes, n);
    reach->excluded[s->n_left_out++] = value;
    const int rc = seep_reach_leave_out(reach, value);
    s->node = SEEP_NODE_NONE;
    for (size_t i = s->n; i-- > s->from && !rc;)
        if (reach->distance[s->nodes[i]] != SEEP_UNREACHED)
            s->node = s->nodes[i];
    return rc;
}

enum mark { NOTHING, LOST, ASKED };

/* The nodes that have lost their path. */
struct loss {
    struct seep_reach *reach;
    uint8_t *marks; /* [nodes] */
    uint32_t *nodes;
    size_t n, capacity;
    bool no_memory;
};

static void lose(struct loss *loss, uint32_t node)
{
    if (loss->reach->distance[node] == SEEP_UNREACHED)
        return;
    if (seep_grow(&loss->nodes, &loss->capacity, loss->n + 1, sizeof *loss->nodes)) {
        loss->no_memory = true;
        return;
    }
    loss->nodes[loss->n++] = node;
    loss->marks[node] = LOST;
    seep_reach_note(loss->reach, node);
    loss->reach->distance[node] = SEEP_UNREACHED;
}

/* What was reached through a lost node is lost as well. */
static void spread(struct loss *loss)
{
    const struct seep_reach *reach = loss->reach;
    struct seep_edge edge;

    for (size_t i = 0; i < loss->n && !loss->no_memory; i++) {
        const uint32_t from = loss->nodes[i];
        struct seep_edge_cursor cursor = seep_heap_edges(reach->heap, from);
        while (seep_heap_next(reach->heap, from, &cursor, &edge))
            if (reach->parent[edge.to] == from)
                lose(loss, edge.to);
    }
}

/* Each node that is still reached and refers to a lost one repeats that reference, once. */
static void ask_nodes(struct loss *loss)
{
    struct seep_reach *reach = loss->reach;
    const uint32_t *end = reach->referrers_end;

    for (size_t i = 0; i < loss->n; i++) {
        const uint32_t to = loss->nodes[i];
        for (uint32_t k = to ? end[to - 1] : 0; k < end[to]; k++) {
            const uint32_t from = reach->referrers[k];
            if (loss->marks[from] != NOTHING || reach->distance[from] == SEEP_UNREACHED)
                continue;
            loss->marks[from] = ASKED;
            seep_reach_walk(reach, from);
        }
    }
}

static void ask_roots(struct loss *loss)
{
    struct seep_reach *reach = loss->reach;

    for (size_t i = 0; i < reach->n_root_edges; i++) {
        const struct seep_root_edge *one = &reach->root_edges[i];
        if (loss->marks[one->edge.to] == LOST &&
            !(reach->no_doubtful && reach->roots[one->root].doubtful))
            seep_reach_take(reach, i);
    }
}

static int find_others(struct loss *loss)
{
    struct seep_reach *reach = loss->reach;
    int rc = -SEEP_ENOMEM;

    spread(loss);
    if (!loss->no_memory) {
        seep_reach_begin(reach);
        ask_roots(loss);
        ask_nodes(loss);
        rc = seep_reach_go_on(reach);
    }
    free(loss->marks);
    free(loss->nodes);
    return rc;
}

/* Who refers to whom is noted while all are still reached. */
static int begin(struct loss *loss)
{
    loss->marks = calloc(loss->reach->heap->n_nodes + (size_t)1, 1);
    if (!loss->marks)
        return -SEEP_ENOMEM;
    return loss->reach->referrers ? 0 : seep_reach_referrers(loss->reach);
}

int seep_reach_leave_out(struct seep_reach *reach, uint32_t node)
{
    struct loss loss = {.reach = reach};

    if (begin(&loss)) {
        free(loss.marks);
        return -SEEP_ENOMEM;
    }
    lose(&loss, node);
    return find_others(&loss);
}

int seep_reach_leave_doubtful(struct seep_reach *reach)
{
    struct loss loss = {.reach = reach};

    if (begin(&loss)) {
        free(loss.marks);
        return -SEEP_ENOMEM;
    }
    reach->no_doubtful = true;
    for (size_t i = 0; i < reach->n_root_edges; i++) {
        const struct seep_root_edge *one = &reach->root_edges[i];
        if (reach->roots[one->root].doubtful &&
            reach->parent[one->edge.to] == (one->root | SEEP_REACH_ROOT))
            lose(&loss, one->edge.to);
    }
    return find_others(&loss);
}

/* Prefers instances of the user's classes with attributes, since they show how the cycle is closed,
 * then functions. */
enum { OWN_MEMBER = 1, FUNCTION = 20, OTHER_MEMBER = 40, NOT_SEEN = 0 };

/* The nodes that no root reaches, with the edges between them (cycles may go through C++), and
 * Tarjan's search for strongly connected components, without recursion. */
struct search {
    struct seep_reach *reach;
    uint32_t *number; /* [nodes] of the unreached: index + 1 */
    uint32_t *dead;   /* [n] nodes */
    size_t n;
    size_t *begin;   /* [n + 1] in edges */
    uint32_t *edges; /* indices */
    size_t n_edges, edges_capacity;
    uint32_t *index, *low; /* [n] */
    bool *on_stack, *in_cycle;
    uint32_t *stack, *calls;
    size_t *next; /* [n] the edge to follow next */
    bool no_memory;
};

static void take_edges(struct search *s, uint32_t from)
{
    const struct seep_heap *heap = s->reach->heap;
    struct seep_edge_cursor cursor = seep_heap_edges(heap, s->dead[from]);
    struct seep_edge edge;

    while (seep_heap_next(heap, s->dead[from], &cursor, &edge)) {
        if (!s->number[edge.to])
            continue;
        if (seep_grow(&s->edges, &s->edges_capacity, s->n_edges + 1, sizeof *s->edges)) {
            s->no_memory = true;
            return;
        }
        s->edges[s->n_edges++] = s->number[edge.to] - 1;
        if (s->number[edge.to] - 1 == from)
            s->in_cycle[from] = true;
    }
}

static int collect(struct search *s)
{
    struct seep_heap *heap = s->reach->heap;
    uint32_t n_nodes = heap->n_nodes;

    s->number = calloc(n_nodes + (size_t)1, sizeof *s->number);
    s->dead = malloc((n_nodes + 1) * sizeof *s->dead);
    if (!s->number || !s->dead)
        return -SEEP_ENOMEM;
    for (uint32_t i = 0; i < n_nodes; i++)
        if (s->reach->distance[i] == SEEP_UNREACHED) {
            if (heap->nodes[i].kind == SEEP_NODE_RAW)
                continue;
            s->dead[s->n++] = i;
            s->number[i] = (uint32_t)s->n;
        }
    s->begin = calloc(s->n + 1, sizeof *s->begin);
    s->index = calloc(s->n + 1, sizeof *s->index);
    s->low = calloc(s->n + 1, sizeof *s->low);
    s->on_stack = calloc(s->n + 1, sizeof *s->on_stack);
    s->in_cycle = calloc(s->n + 1, sizeof *s->in_cycle);
    s->stack = calloc(s->n + 1, sizeof *s->stack);
    s->calls = calloc(s->n + 1, sizeof *s->calls);
    s->next = calloc(s->n + 1, sizeof *s->next);
    if (!s->begin || !s->index || !s->low || !s->on_stack || !s->in_cycle || !s->stack ||
        !s->calls || !s->next)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < s->n && !s->no_memory; i++) {
        s->begin[i] = s->n_edges;
        take_edges(s, (uint32_t)i);
    }
    s->begin[s->n] = s->n_edges;
    return s->no_memory ? -SEEP_ENOMEM : 0;
}

/* The component whose first node is `v`: a cycle if it has more than one node. */
static void pop_component(struct search *s, uint32_t v, size_t *n_stack)
{
    bool cycle = s->stack[*n_stack - 1] != v;
    uint32_t w;

    do {
        w = s->stack[--*n_stack];
        s->on_stack[w] = false;
        s->in_cycle[w] |= cycle;
    } while (w != v);
}

static void search_from(struct search *s, uint32_t start, uint32_t *counter)
{
    size_t n_calls = 0, n_stack = 0;

    s->calls[n_calls++] = start;
    while (n_calls) {
        uint32_t v = s->calls[n_calls - 1];
        if (s->index[v] == NOT_SEEN) {
            s->index[v] = s->low[v] = ++*counter;
            s->stack[n_stack++] = v;
            s->on_stack[v] = true;
            s->next[v] = s->begin[v];
        }
        if (s->next[v] < s->begin[v + 1]) {
            uint32_t w = s->edges[s->next[v]++];
            if (s->index[w] == NOT_SEEN)
                s->calls[n_calls++] = w;
            else if (s->on_stack[w] && s->index[w] < s->low[v])
                s->low[v] = s->index[w];
            continue;
        }
        if (s->low[v] == s->index[v])
            pop_component(s, v, &n_stack);
        n_calls--;
        if (n_calls && s->low[v] < s->low[s->calls[n_calls - 1]])
            s->low[s->calls[n_calls - 1]] = s->low[v];
    }
}

/* By its type's table, or by the way in which somebody would write them. */
static bool has_attributes(const struct seep_heap *heap, uint32_t node,
                           const struct seep_pytype *type)
{
    struct seep_edge_cursor cursor = seep_heap_edges(heap, node);
    struct seep_edge edge;

    if (type->n_members)
        return true;
    while (seep_heap_next(heap, node, &cursor, &edge)) {
        const enum seep_label_kind kind = seep_label_kind(edge.label);
        if (kind == SEEP_LABEL_ATTRIBUTE || kind == SEEP_LABEL_HIDDEN)
            return true;
    }
    return false;
}

static unsigned cost_of(const struct seep_heap *heap, uint32_t node, const struct seep_pytype *type)
{
    if (type->flags & SEEP_PY_HEAP_TYPE && type->kind == SEEP_PYTYPE_OTHER &&
        has_attributes(heap, node, type))
        return OWN_MEMBER;
    return type->kind == SEEP_PYTYPE_FUNCTION ? FUNCTION : OTHER_MEMBER;
}

/* Only objects that the collector tracks can be in a cycle. */
static void add_roots(struct search *s)
{
    struct seep_heap *heap = s->reach->heap;

    for (size_t i = 0; i < s->n; i++) {
        if (!s->in_cycle[i] || heap->nodes[s->dead[i]].kind != SEEP_NODE_PYTHON)
            continue;
        const struct seep_pytype *type = seep_node_type(heap, s->dead[i]);
        if (type && type->flags & SEEP_PY_GC)
            seep_reach_add(s->reach, SEEP_ROOT_CYCLE, s->dead[i], cost_of(heap, s->dead[i], type));
    }
}

/* Memory that garbage points to but does not own is not freed with the garbage: it is lost. */
static int go_on_with_owners(struct seep_reach *reach)
{
    reach->heap->owners_only = true;
    int rc = seep_reach_go_on(reach);
    reach->heap->owners_only = false;
    seep_reach_unsettle(reach);
    return rc;
}

int seep_cycles_find(struct seep_reach *reach)
{
    struct search s = {.reach = reach};
    uint32_t counter = 0;
    int rc = seep_reach_settle(reach);
    if (!rc && reach->heap->python.layout)
        rc = collect(&s);

    for (uint32_t i = 0; !rc && i < s.n; i++)
        if (s.index[i] == NOT_SEEN)
            search_from(&s, i, &counter);
    if (!rc)
        add_roots(&s);
    free(s.number);
    free(s.dead);
    free(s.begin);
    free(s.edges);
    free(s.index);
    free(s.low);
    free(s.on_stack);
    free(s.in_cycle);
    free(s.stack);
    free(s.calls);
    free(s.next);
    if (rc)
        seep_reach_unsettle(reach);
    return rc ? rc : go_on_with_owners(reach);
}
