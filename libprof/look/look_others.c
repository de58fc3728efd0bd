#include "libprof/look/look_others.h"

#include "libprof/base/hash_index.h"
#include "libprof/who/graph/py_types.h"
#include "libprof/who/survey/survey.h"

#include <stdio.h>
#include <stdlib.h>

struct sum {
    const struct seep_pytype *type; /* NULL: of blocks of C's that belong to no object */
    uint64_t bytes, objects;
};

struct sums {
    struct sum *list;
    size_t n, capacity;
    struct seep_hash_index by_type;
};

static struct sum *sum_of(struct sums *s, const struct seep_pytype *type)
{
    const uint64_t hash = (uint64_t)(uintptr_t)type;
    uint32_t at = seep_hash_begin(&s->by_type, hash), i;

    while ((i = seep_hash_next(&s->by_type, hash, &at)) != SEEP_HASH_NONE)
        if (s->list[i].type == type)
            return &s->list[i];
    if (seep_grow(&s->list, &s->capacity, s->n + 1, sizeof *s->list) ||
        seep_hash_add(&s->by_type, hash, (uint32_t)s->n))
        return NULL;
    s->list[s->n] = (struct sum){.type = type};
    return &s->list[s->n++];
}

/* The type of the object that a node is, or is freed with. */
static const struct seep_pytype *type_of(struct seep_reach *reach, const struct seep_dominators *d,
                                         uint32_t node)
{
    const struct seep_pytype *type = NULL;

    for (; node != SEEP_DOMINATED_BY_NONE && node != SEEP_NODE_NONE; node = d->by[node])
        if ((type = seep_node_type(reach->heap, node)))
            break;
    return type;
}

static int count(struct sums *s, struct seep_reach *reach, const struct seep_dominators *d,
                 const uint32_t *of_node)
{
    for (uint32_t i = 0; i < d->n_order; i++) {
        const uint32_t node = d->order[i];
        uint64_t with_bytes, with;
        struct sum *sum;
        if (of_node[node] != SEEP_NO_RETAINER || reach->distance[node] == SEEP_UNREACHED)
            continue;
        if (!(sum = sum_of(s, type_of(reach, d, node))))
            return -SEEP_ENOMEM;
        seep_node_with(reach->heap, node, &with_bytes, &with);
        sum->bytes += seep_node_bytes(reach->heap, node) + with_bytes;
        sum->objects += seep_node_type(reach->heap, node) != NULL;
    }
    return 0;
}

static int by_bytes(const void *a, const void *b)
{
    const struct sum *x = a, *y = b;

    return x->bytes < y->bytes ? 1 : x->bytes > y->bytes ? -1 : 0;
}

int seep_look_others_find(struct seep_look_holders *holders, struct seep_reach *reach,
                          const struct seep_dominators *dominators, const uint32_t *of_node)
{
    struct sums s = {0};
    const int rc = count(&s, reach, dominators, of_node);

    if (s.n)
        qsort(s.list, s.n, sizeof *s.list, by_bytes);
    for (size_t i = 0; i < s.n && holders->n_others < SEEP_LOOK_OTHERS; i++) {
        struct seep_look_other *other = &holders->others[holders->n_others++];
        *other = (struct seep_look_other){.bytes = s.list[i].bytes, .objects = s.list[i].objects};
        snprintf(other->type, sizeof other->type, "%s",
                 s.list[i].type ? seep_pytype_short(s.list[i].type) : "");
    }
    seep_hash_fini(&s.by_type);
    free(s.list);
    return rc;
}
