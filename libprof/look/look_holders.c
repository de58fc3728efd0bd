#include "libprof/look/look_holders.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/find/who_holds.h"
#include "libprof/who/graph/heap.h"
#include "libprof/who/graph/py_walk.h"
#include "libprof/who/retained/dominators.h"
#include "libprof/who/ways/inner.h"
#include "libprof/who/ways/reach_passes.h"
#include "libprof/who/ways/ways.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    MOST_HOLDERS = 256,
    LEAST = 64 << 10,   /* bytes that are worth a word */
    LEAST_SHARE = 1000, /* or one in so many of all that is live */
};

struct search {
    struct seep_look_holders *found;
    struct seep_taken *taken;
    struct seep_heap heap;
    struct seep_reach reach;
    struct seep_ways ways;
    struct seep_dominators dominators;
    uint64_t *below;  /* [nodes] the most that a node which each one dominates retains */
    uint32_t *holder; /* [nodes] the holder that it goes with, or is */
    struct seep_hash_index by_key;
    size_t capacity;
    uint64_t least;
};

static const struct seep_pytype *type_of(struct search *s, uint32_t node)
{
    struct seep_heap *heap = &s->heap;

    return heap->nodes[node].kind == SEEP_NODE_PYTHON
               ? seep_python_type(
                     heap, seep_memory_word(heap->memory,
                                            seep_node_object(&heap->nodes[node]) + SEEP_PY_TYPE))
               : NULL;
}

static bool is_namespace(const struct seep_pytype *type)
{
    return type && (type->kind == SEEP_PYTYPE_MODULE || type->kind == SEEP_PYTYPE_TYPE);
}

/* What a user would name: a value that many things go with, not a module or a class that has
 * several, nor something of which nearly all goes with a part. */
static bool is_holder(struct search *s, uint32_t node)
{
    enum { NEARLY_ALL = 9, OF = 10 };
    const uint64_t retained = s->dominators.retained[node];
    const struct seep_pytype *type;
    const uint32_t parent = s->reach.parent[node];

    if (retained < s->least || s->below[node] * OF >= retained * NEARLY_ALL)
        return false;
    type = type_of(s, node);
    if (is_namespace(type))
        return false;
    if (type && type->kind == SEEP_PYTYPE_DICT && !(parent & SEEP_REACH_ROOT) &&
        is_namespace(type_of(s, parent)))
        return false;
    return type || s->dominators.by[node] == SEEP_DOMINATED_BY_NONE;
}

static uint32_t holder_by_key(const struct search *s, uint64_t key)
{
    uint32_t at = seep_hash_begin(&s->by_key, key), i;

    while ((i = seep_hash_next(&s->by_key, key, &at)) != SEEP_HASH_NONE)
        if (s->found->list[i].key == key)
            return i;
    return SEEP_LOOK_NO_HOLDER;
}

static uint32_t add_holder(struct search *s, uint64_t key, uint32_t within)
{
    struct seep_look_holders *found = s->found;
    const uint32_t i = (uint32_t)found->n;

    if (seep_grow(&found->list, &s->capacity, found->n + 1, sizeof *found->list) ||
        seep_hash_add(&s->by_key, key, i)) {
        s->ways.no_memory = true;
        return SEEP_LOOK_NO_HOLDER;
    }
    found->list[found->n++] =
        (struct seep_look_holder){.key = key, .within = within, .length = -1, .bound = -1};
    return i;
}

/* What lies within another one of its own kind, as in a tree, is in that one's sum. */
static void take_node(struct search *s, uint32_t node)
{
    const uint32_t by = s->dominators.by[node];
    const uint32_t within = by == SEEP_DOMINATED_BY_NONE ? SEEP_LOOK_NO_HOLDER : s->holder[by];
    const uint64_t retained = s->dominators.retained[node];

    s->holder[node] = within;
    if (!is_holder(s, node))
        return;
    const uint64_t key = seep_ways_hash(&s->ways, node);
    uint32_t i = holder_by_key(s, key);
    if (i == SEEP_LOOK_NO_HOLDER)
        i = add_holder(s, key, within);
    if (i == SEEP_LOOK_NO_HOLDER || i == within)
        return;
    struct seep_look_holder *holder = &s->found->list[i];
    holder->retained += retained;
    holder->objects++;
    if (retained > holder->most) {
        holder->most = retained;
        holder->node = node;
    }
    s->holder[node] = i;
}

static int find_holders(struct search *s)
{
    const struct seep_dominators *d = &s->dominators;
    const size_t n = (size_t)d->n_nodes + 1;

    s->below = calloc(n, sizeof *s->below);
    s->holder = malloc(n * sizeof *s->holder);
    if (!s->below || !s->holder)
        return -SEEP_ENOMEM;
    for (uint32_t i = d->n_order; i-- > 0;) {
        const uint32_t node = d->order[i], by = d->by[node];
        if (by != SEEP_DOMINATED_BY_NONE && d->retained[node] > s->below[by])
            s->below[by] = d->retained[node];
    }
    for (uint32_t i = 0; i < d->n_order; i++)
        take_node(s, d->order[i]);
    return s->ways.no_memory ? -SEEP_ENOMEM : 0;
}

/* ---- what is told of them -------------------------------------------------------------------- */

static int by_retained(const void *a, const void *b)
{
    const struct seep_look_holder *x = a, *y = b;

    return x->retained != y->retained ? (x->retained < y->retained ? 1 : -1)
           : x->key != y->key         ? (x->key < y->key ? -1 : 1)
                                      : 0;
}

/* `within` are indices of an order that is gone after this. */
static int sort_holders(struct search *s)
{
    struct seep_look_holders *found = s->found;
    size_t *place = malloc((found->n + 1) * sizeof *place);

    if (!place)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < found->n; i++)
        found->list[i].length = (int64_t)i; /* where it was */
    if (found->n)
        qsort(found->list, found->n, sizeof *found->list, by_retained);
    for (size_t i = 0; i < found->n; i++)
        place[found->list[i].length] = i;
    for (size_t i = 0; i < found->n; i++) {
        struct seep_look_holder *h = &found->list[i];
        h->length = -1;
        if (h->within != SEEP_LOOK_NO_HOLDER)
            h->within =
                place[h->within] < MOST_HOLDERS ? (uint32_t)place[h->within] : SEEP_LOOK_NO_HOLDER;
    }
    found->n = found->n < MOST_HOLDERS ? found->n : MOST_HOLDERS;
    free(place);
    return 0;
}

static int tell(struct search *s, struct seep_look_holder *holder, bool keys)
{
    const struct seep_pytype *type = type_of(s, holder->node);
    const uint64_t object = seep_node_object(&s->heap.nodes[holder->node]);

    if (type) {
        holder->length = seep_python_length(&s->heap, object, type);
        holder->bound = seep_python_bound(&s->heap, object, type);
        snprintf(holder->type, sizeof holder->type, "%s", seep_pytype_short(type));
    }
    int rc = seep_path_of(&s->reach, holder->node, keys, &holder->path);
    if (!rc)
        seep_who_name_global(&s->taken->dump.maps, &holder->path);
    return rc;
}

/* ---- all of it ------------------------------------------------------------------------------- */

static uint64_t reached_bytes(const struct search *s)
{
    uint64_t sum = 0;

    for (uint32_t i = 0; i < s->heap.n_blocks; i++)
        sum += s->reach.distance[i] != SEEP_UNREACHED ? s->heap.nodes[i].bytes : 0;
    return sum;
}

static int make_graph(struct search *s)
{
    const struct seep_root_places places = {0};
    struct seep_taken *t = s->taken;

    s->heap = (struct seep_heap){.python = t->python};
    int rc = seep_heap_init(&s->heap, &t->dump.memory, &t->dump.maps, t->blocks.list, t->blocks.n);
    if (!rc)
        rc = seep_reach_init(&s->reach, &s->heap, &places);
    if (!rc)
        rc = seep_reach_run(&s->reach);
    if (!rc)
        rc = seep_inner_find(&s->reach);
    if (!rc)
        rc = seep_ways_init(&s->ways, &s->reach);
    return rc ? rc : seep_dominators_find(&s->dominators, &s->reach.refs, s->heap.nodes);
}

static void count(struct search *s)
{
    struct seep_look_holders *found = s->found;

    found->nodes = s->heap.n_nodes;
    for (uint32_t i = 0; i < s->heap.n_blocks; i++)
        found->live_bytes += s->heap.nodes[i].bytes;
    found->reached_bytes = reached_bytes(s);
    s->least = found->live_bytes / LEAST_SHARE > LEAST ? found->live_bytes / LEAST_SHARE : LEAST;
}

/* The last of it: searches on from here change the ways. */
static int count_garbage(struct search *s)
{
    int rc = seep_cycles_find(&s->reach);

    if (!rc) {
        s->found->cycle_bytes = reached_bytes(s) - s->found->reached_bytes;
        s->found->lost_bytes =
            s->found->live_bytes - s->found->reached_bytes - s->found->cycle_bytes;
    }
    return rc;
}

static int find(struct search *s, bool keys)
{
    int rc = make_graph(s);

    if (!rc) {
        count(s);
        rc = find_holders(s);
    }
    if (!rc)
        rc = sort_holders(s);
    for (size_t i = 0; i < s->found->n && !rc; i++)
        rc = tell(s, &s->found->list[i], keys);
    return rc ? rc : count_garbage(s);
}

int seep_look_holders_find(struct seep_look_holders *holders, struct seep_taken *taken, bool keys)
{
    struct search *s = calloc(1, sizeof *s);

    *holders = (struct seep_look_holders){0};
    if (!s)
        return -SEEP_ENOMEM;
    s->found = holders;
    s->taken = taken;
    int rc = find(s, keys);
    seep_dominators_fini(&s->dominators);
    seep_ways_fini(&s->ways);
    seep_reach_fini(&s->reach);
    seep_heap_fini(&s->heap);
    seep_hash_fini(&s->by_key);
    free(s->below);
    free(s->holder);
    free(s);
    return rc;
}

void seep_look_holders_fini(struct seep_look_holders *holders)
{
    free(holders->list);
    *holders = (struct seep_look_holders){0};
}
