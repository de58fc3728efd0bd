#include "libprof/who/ways/ways.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/path.h"

#include <stdlib.h>

enum { NOT_MARKED = UINT16_MAX }; /* known to have no mark; 0: not known */

int seep_ways_init(struct seep_ways *ways, struct seep_reach *reach)
{
    const size_t n = reach->heap->n_nodes + (size_t)1;

    *ways = (struct seep_ways){.reach = reach};
    ways->hash = calloc(n, sizeof *ways->hash);
    ways->mark = calloc(n, sizeof *ways->mark);
    return ways->hash && ways->mark ? 0 : -SEEP_ENOMEM;
}

void seep_ways_fini(struct seep_ways *ways)
{
    free(ways->hash);
    free(ways->mark);
    free(ways->pending);
    free(ways->hashed);
    free(ways->marked);
    *ways = (struct seep_ways){0};
}

void seep_ways_forget(struct seep_ways *ways)
{
    while (ways->n_hashed)
        ways->hash[ways->hashed[--ways->n_hashed]] = 0;
    seep_ways_unmark(ways);
}

void seep_ways_unmark(struct seep_ways *ways)
{
    while (ways->n_marked)
        ways->mark[ways->marked[--ways->n_marked]] = 0;
}

/* What is not noted could not be forgotten. */
static bool note(struct seep_ways *ways, uint32_t **list, size_t *n, size_t *capacity,
                 uint32_t node)
{
    if (seep_grow(list, capacity, *n + 1, sizeof **list)) {
        ways->no_memory = true;
        return false;
    }
    (*list)[(*n)++] = node;
    return true;
}

/* ---- numbers of ways ------------------------------------------------------------------------- */

static uint64_t mix(uint64_t hash, uint64_t value)
{
    hash ^= value + UINT64_C(0x9e3779b97f4a7c15) + (hash << 6) + (hash >> 2);
    return hash * UINT64_C(0xff51afd7ed558ccd);
}

/* The same in each look at a process: names' numbers are not, their addresses are. */
static uint64_t value_of(const struct seep_heap *heap, seep_label label)
{
    const uint64_t value = seep_label_value(label);

    switch (seep_label_kind(label)) {
    case SEEP_LABEL_ATTRIBUTE:
    case SEEP_LABEL_MEMBER:
    case SEEP_LABEL_LOCAL:
    case SEEP_LABEL_MODULE:
        return seep_names_key(&heap->survey->names, (uint32_t)value);
    default:
        return value;
    }
}

/* Places in a small tuple are like attributes; other indices and keys are contents. */
static uint64_t mix_label(struct seep_reach *reach, uint64_t hash, uint32_t node, uint32_t from)
{
    const seep_label label = seep_reach_label(reach, node);
    const enum seep_label_kind kind = seep_label_kind(label);
    const struct seep_pytype *type =
        from & SEEP_REACH_ROOT ? NULL : seep_node_type(reach->heap, from);

    hash = mix(hash, kind);
    if (seep_way_has_name(kind) ||
        (kind == SEEP_LABEL_INDEX && type && type->kind == SEEP_PYTYPE_TUPLE &&
         seep_node_length(reach->heap, from) <= SEEP_WAY_MANY_KEYS))
        return mix(hash, value_of(reach->heap, label));
    return hash;
}

static uint64_t hash_of_root(const struct seep_reach *reach, uint32_t root)
{
    const struct seep_root *from = &reach->roots[root];
    const bool nobody = from->kind == SEEP_ROOT_CYCLE || from->kind == SEEP_ROOT_REFERENCE;
    uint64_t at = from->map ? from->map->file : nobody ? 0 : from->at;

    return mix(mix(from->kind, at), from->subinterpreter);
}

/* A node's hash, from its parent's: consecutive blocks of C and C++ count as one, and so do the
 * members of a linked list. */
static uint64_t hash_behind(struct seep_reach *reach, uint64_t hash, uint32_t node)
{
    const uint32_t from = reach->parent[node];
    const struct seep_pytype *type = seep_node_type(reach->heap, node);

    if (!type)
        return !(from & SEEP_REACH_ROOT) && !seep_node_type(reach->heap, from) ? hash
                                                                               : mix(hash, 1);
    if (seep_way_repeats(reach, node))
        return hash;
    return mix(mix_label(reach, hash, node, from), type->address);
}

/* The hash that passes from `node`, which may be a root, to what is reached from it. */
static uint64_t hash_at(struct seep_ways *ways, uint32_t node)
{
    struct seep_reach *reach = ways->reach;
    size_t n = 0;

    for (; !(node & SEEP_REACH_ROOT) && !ways->hash[node]; node = reach->parent[node]) {
        if (seep_grow(&ways->pending, &ways->capacity, n + 1, sizeof *ways->pending)) {
            ways->no_memory = true;
            return 0;
        }
        ways->pending[n++] = node;
        ways->n_steps++;
    }
    uint64_t hash =
        node & SEEP_REACH_ROOT ? hash_of_root(reach, node & ~SEEP_REACH_ROOT) : ways->hash[node];
    while (n) {
        node = ways->pending[--n];
        hash = hash_behind(reach, hash, node);
        hash = hash ? hash : 1;
        if (note(ways, &ways->hashed, &ways->n_hashed, &ways->hashed_capacity, node))
            ways->hash[node] = hash;
    }
    return hash;
}

uint64_t seep_ways_hash(struct seep_ways *ways, uint32_t node)
{
    const bool python = seep_node_type(ways->reach->heap, node);

    return hash_at(ways, python ? node : ways->reach->parent[node]);
}

/* ---- marks ----------------------------------------------------------------------------------- */

void seep_ways_mark(struct seep_ways *ways, uint32_t node, uint16_t mark)
{
    if (note(ways, &ways->marked, &ways->n_marked, &ways->marked_capacity, node))
        ways->mark[node] = mark;
}

uint16_t seep_ways_marked(struct seep_ways *ways, uint32_t node)
{
    const uint32_t *parent = ways->reach->parent;
    uint32_t top = node;

    for (; !(top & SEEP_REACH_ROOT) && !ways->mark[top]; top = parent[top])
        ways->n_steps++;
    const uint16_t mark = top & SEEP_REACH_ROOT ? NOT_MARKED : ways->mark[top];
    for (; node != top; node = parent[node])
        seep_ways_mark(ways, node, mark);
    return mark == NOT_MARKED ? 0 : mark;
}
