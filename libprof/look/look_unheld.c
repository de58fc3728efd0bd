#include "libprof/look/look_unheld.h"

#include "libprof/base/hash_index.h"
#include "libprof/base/text.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/reach_passes.h"

#include <stdio.h>
#include <stdlib.h>

struct groups {
    struct seep_reach *reach;
    const struct seep_look_holders *holders;
    const struct seep_look_memories *memories;
    struct seep_look_holder *list;
    size_t n, capacity;
    struct seep_hash_index by_key;
    uint32_t *group; /* [nodes] that each belongs to; SEEP_LOOK_NO_HOLDER: to none */
    uint32_t *top;   /* [nodes] the first one behind the root of each's way; SEEP_NODE_NONE: not
                      * known yet */
};

/* The word that says what a node is: an object's type, a class's vtable; else how large it is. */
static uint64_t kind_of(struct seep_heap *heap, uint32_t node)
{
    const uint64_t at = seep_node_kind_at(heap, node);
    const uint64_t bytes = heap->nodes[node].bytes;

    return at ? at : bytes ? 63 - (uint64_t)__builtin_clzll(bytes) : 0;
}

static uint64_t key_of(enum seep_hold_state state, uint64_t kind)
{
    return (kind + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ (uint64_t)state << 56;
}

static struct seep_look_holder *group_of(struct groups *g, enum seep_hold_state state, uint64_t key)
{
    uint32_t at = seep_hash_begin(&g->by_key, key), i;

    while ((i = seep_hash_next(&g->by_key, key, &at)) != SEEP_HASH_NONE)
        if (g->list[i].key == key)
            return &g->list[i];
    if (seep_grow(&g->list, &g->capacity, g->n + 1, sizeof *g->list) ||
        seep_hash_add(&g->by_key, key, (uint32_t)g->n))
        return NULL;
    g->list[g->n] = (struct seep_look_holder){
        .key = key, .state = state, .within = SEEP_LOOK_NO_HOLDER, .length = -1, .bound = -1};
    return &g->list[g->n++];
}

/* The first node of the way to one that is reached; those in between know it from then on. */
static uint32_t top_of(struct groups *g, uint32_t node)
{
    const uint32_t *parent = g->reach->parent;
    uint32_t top = node, next;

    while (g->top[top] == SEEP_NODE_NONE && !(parent[top] & SEEP_REACH_ROOT))
        top = parent[top];
    if (g->top[top] != SEEP_NODE_NONE)
        top = g->top[top];
    for (; node != top && g->top[node] == SEEP_NODE_NONE; node = next) {
        next = parent[node];
        g->top[node] = top;
    }
    return g->top[top] = top;
}

static int add_node(struct groups *g, enum seep_hold_state state, uint32_t node, uint32_t of)
{
    struct seep_heap *heap = g->reach->heap;
    uint64_t bytes[SEEP_LOOK_MEMORIES] = {0}, with, n;
    struct seep_look_holder *group = group_of(g, state, key_of(state, kind_of(heap, of)));

    if (!group)
        return -SEEP_ENOMEM;
    g->group[node] = (uint32_t)(group - g->list);
    seep_look_memories_add(g->memories, node, bytes);
    for (size_t m = 0; m < g->holders->n_memories; m++)
        group->retained[m] += bytes[m];
    const double share = seep_look_share(g->holders, bytes);
    seep_node_with(heap, node, &with, &n); /* the example that is shown is large by itself */
    group->retained[SEEP_LOOK_HOST] += with;
    group->objects += node == of;
    if (share > group->most) {
        group->most = share;
        group->node = node;
    }
    return 0;
}

static bool is_outside(const struct groups *g, uint32_t node)
{
    return !seep_node_bytes(g->reach->heap, node);
}

/* Puts what was not reached before, and is now, into groups. was[]: distances before. */
static int take_reached(struct groups *g, enum seep_hold_state state, bool *was, uint64_t *sum)
{
    const struct seep_heap *heap = g->reach->heap;
    int rc = 0;

    for (uint32_t i = 0; i < heap->n_nodes && !rc; i++) {
        if (was[i] || g->reach->distance[i] == SEEP_UNREACHED || is_outside(g, i))
            continue;
        was[i] = true;
        *sum += seep_node_bytes(heap, i);
        rc = add_node(g, state, i, top_of(g, i));
    }
    return rc;
}

static int take_lost(struct groups *g, const bool *was, uint64_t *sum)
{
    struct seep_heap *heap = g->reach->heap;
    int rc = 0;

    for (uint32_t i = 0; i < heap->n_nodes && !rc; i++) {
        if (was[i] || is_outside(g, i))
            continue;
        *sum += seep_node_bytes(heap, i);
        rc = add_node(g, SEEP_HOLD_LOST, i, i);
    }
    return rc;
}

static int find_groups(struct groups *g, bool *was, struct seep_look_holders *holders)
{
    struct seep_reach *reach = g->reach;

    for (uint32_t i = 0; i < reach->heap->n_nodes; i++)
        was[i] = reach->distance[i] != SEEP_UNREACHED;
    int rc = seep_cycles_find(reach);
    if (!rc)
        rc = take_reached(g, SEEP_HOLD_CYCLE, was, &holders->cycle_bytes);
    if (!rc && holders->all_known)
        rc = seep_references_find(reach);
    if (!rc && holders->all_known)
        rc = take_reached(g, SEEP_HOLD_REFERENCE, was, &holders->reference_bytes);
    return rc ? rc : take_lost(g, was, &holders->lost_bytes);
}

static int keep_large(struct groups *g, struct seep_look_holders *holders, size_t *capacity)
{
    for (size_t i = 0; i < g->n; i++) {
        g->list[i].found = SEEP_LOOK_NO_HOLDER;
        if (!seep_look_is_large(holders, &g->list[i]) ||
            (g->list[i].state == SEEP_HOLD_LOST && !holders->all_known))
            continue;
        if (seep_grow(&holders->list, capacity, holders->n + 1, sizeof *holders->list))
            return -SEEP_ENOMEM;
        g->list[i].found = (uint32_t)holders->n;
        holders->list[holders->n++] = g->list[i];
    }
    return 0;
}

/* Of the nodes that are in a group; all others keep what they have. */
static void note_holders(const struct groups *g, uint32_t *holder)
{
    for (uint32_t i = 0; i < g->reach->heap->n_nodes; i++)
        if (g->group[i] != SEEP_LOOK_NO_HOLDER)
            holder[i] = g->list[g->group[i]].found;
}

int seep_look_unheld_add(struct seep_look_holders *holders, size_t *capacity,
                         struct seep_reach *reach, const struct seep_look_memories *memories,
                         uint32_t *holder)
{
    const size_t nodes = reach->heap->n_nodes;
    struct groups g = {.reach = reach,
                       .holders = holders,
                       .memories = memories,
                       .group = malloc((nodes + 1) * sizeof *g.group),
                       .top = malloc((nodes + 1) * sizeof *g.top)};
    bool *was = calloc(nodes + 1, sizeof *was);
    int rc = g.top && g.group && was ? 0 : -SEEP_ENOMEM;

    for (size_t i = 0; i < nodes && !rc; i++) {
        g.group[i] = SEEP_LOOK_NO_HOLDER;
        g.top[i] = SEEP_NODE_NONE;
    }
    if (!rc)
        rc = find_groups(&g, was, holders);
    if (!rc)
        rc = keep_large(&g, holders, capacity);
    if (!rc)
        note_holders(&g, holder);
    seep_hash_fini(&g.by_key);
    free(g.list);
    free(g.group);
    free(g.top);
    free(was);
    return rc;
}

void seep_look_unheld_path(struct seep_heap *heap, struct seep_look_holder *holder)
{
    const struct seep_node *node = &heap->nodes[holder->node];
    const uint64_t kind = kind_of(heap, holder->node);
    struct seep_hop *hop = holder->path.hops;
    char size[SEEP_SIZE_TEXT];

    holder->path = (struct seep_path){.root.kind = SEEP_ROOT_NOBODY, .n = 1};
    *hop = (struct seep_hop){.kind = SEEP_HOP_SELF, .length = -1, .index = -1};
    const char *class = seep_node_class(heap, holder->node);
    if (node->kind == SEEP_NODE_PYTHON) {
        const struct seep_pytype *type = seep_node_type(heap, holder->node);
        snprintf(hop->type, sizeof hop->type, "%s", type ? seep_pytype_short(type) : "object");
    } else if (*class) {
        snprintf(hop->type, sizeof hop->type, "%.*s", (int)sizeof hop->type - 1, class);
    } else {
        seep_text_size((double)(UINT64_C(1) << (kind & 63)), size);
        snprintf(hop->type, sizeof hop->type, "blocks of %s and more", size);
    }
}
