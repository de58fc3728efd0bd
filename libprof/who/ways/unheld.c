#include "libprof/who/ways/unheld.h"

#include "libprof/base/text.h"
#include "libprof/who/survey/survey.h"

#include <stdio.h>
#include <stdlib.h>

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

static uint32_t group_of(struct seep_unheld *u, enum seep_hold_state state, uint64_t key)
{
    uint32_t at = seep_hash_begin(&u->by_key, key), i;

    while ((i = seep_hash_next(&u->by_key, key, &at)) != SEEP_HASH_NONE)
        if (u->list[i].key == key)
            return i;
    if (seep_grow(&u->list, &u->capacity, u->n + 1, sizeof *u->list) ||
        seep_hash_add(&u->by_key, key, (uint32_t)u->n))
        return SEEP_NO_GROUP;
    u->list[u->n] = (struct seep_unheld_group){.key = key, .state = state};
    return (uint32_t)u->n++;
}

/* The first node of the way to one that is reached; those in between know it from then on. */
static uint32_t top_of(const struct seep_reach *reach, uint32_t *tops, uint32_t node)
{
    const uint32_t *parent = reach->parent;
    uint32_t top = node, next;

    while (tops[top] == SEEP_NODE_NONE && !(parent[top] & SEEP_REACH_ROOT))
        top = parent[top];
    if (tops[top] != SEEP_NODE_NONE)
        top = tops[top];
    for (; node != top && tops[node] == SEEP_NODE_NONE; node = next) {
        next = parent[node];
        tops[node] = top;
    }
    return tops[top] = top;
}

/* By the root of the way to it; `top` is the first node behind that. */
static enum seep_hold_state state_of(const struct seep_reach *reach, uint32_t top)
{
    switch (reach->roots[reach->parent[top] & ~SEEP_REACH_ROOT].kind) {
    case SEEP_ROOT_CYCLE:
        return SEEP_HOLD_CYCLE;
    case SEEP_ROOT_REFERENCE:
        return SEEP_HOLD_REFERENCE;
    default:
        return SEEP_HOLD_HELD;
    }
}

static int put_into_group(struct seep_unheld *u, const struct seep_reach *reach, uint32_t *tops,
                          uint32_t node)
{
    const bool lost = reach->distance[node] == SEEP_UNREACHED;
    const uint32_t top = lost ? node : top_of(reach, tops, node);
    const enum seep_hold_state state = lost ? SEEP_HOLD_LOST : state_of(reach, top);

    u->of_node[node] = SEEP_NO_GROUP;
    if (state == SEEP_HOLD_HELD || !seep_node_bytes(reach->heap, node))
        return 0;
    u->of_node[node] = group_of(u, state, key_of(state, kind_of(reach->heap, top)));
    return u->of_node[node] == SEEP_NO_GROUP ? -SEEP_ENOMEM : 0;
}

int seep_unheld_find(struct seep_unheld *u, struct seep_reach *reach)
{
    const uint32_t n_nodes = reach->heap->n_nodes;
    uint32_t *tops = malloc((n_nodes + (size_t)1) * sizeof *tops);

    *u = (struct seep_unheld){.of_node = malloc((n_nodes + (size_t)1) * sizeof *u->of_node)};
    int rc = tops && u->of_node ? 0 : -SEEP_ENOMEM;
    for (uint32_t i = 0; i < n_nodes && !rc; i++)
        tops[i] = SEEP_NODE_NONE;
    for (uint32_t i = 0; i < n_nodes && !rc; i++)
        rc = put_into_group(u, reach, tops, i);
    free(tops);
    return rc;
}

void seep_unheld_fini(struct seep_unheld *u)
{
    seep_hash_fini(&u->by_key);
    free(u->list);
    free(u->of_node);
    *u = (struct seep_unheld){0};
}

bool seep_unheld_is_top(const struct seep_reach *reach, uint32_t node)
{
    return reach->distance[node] == SEEP_UNREACHED || reach->parent[node] & SEEP_REACH_ROOT;
}

static void describe_lost(struct seep_heap *heap, uint32_t node, struct seep_path *path)
{
    const uint64_t kind = kind_of(heap, node);
    struct seep_hop *hop = path->hops;
    char size[SEEP_SIZE_TEXT];

    *path = (struct seep_path){.root.kind = SEEP_ROOT_NOBODY, .n = 1};
    *hop = (struct seep_hop){.kind = SEEP_HOP_SELF, .length = -1, .index = -1};
    const char *class = seep_node_class(heap, node);
    if (heap->nodes[node].kind == SEEP_NODE_PYTHON) {
        const struct seep_pytype *type = seep_node_type(heap, node);
        snprintf(hop->type, sizeof hop->type, "%s", type ? seep_pytype_short(type) : "object");
    } else if (*class) {
        snprintf(hop->type, sizeof hop->type, "%.*s", (int)sizeof hop->type - 1, class);
    } else {
        seep_text_size((double)(UINT64_C(1) << (kind & 63)), size);
        snprintf(hop->type, sizeof hop->type, "blocks of %s and more", size);
    }
}

int seep_unheld_path(struct seep_reach *reach, enum seep_hold_state state, uint32_t node, bool keys,
                     struct seep_path *path)
{
    if (state != SEEP_HOLD_LOST)
        return seep_path_of(reach, node, keys, path);
    describe_lost(reach->heap, node, path);
    return 0;
}
