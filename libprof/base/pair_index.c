#include "libprof/base/pair_index.h"

#include <stdbool.h>
#include <stdlib.h>

static const uint32_t *node(struct seep_pairs nodes, uint32_t id)
{
    return (const void *)((const char *)nodes.list + id * nodes.bytes);
}

static bool is(struct seep_pairs nodes, uint32_t id, uint32_t a, uint32_t b)
{
    const uint32_t *its = node(nodes, id);

    return its[0] == a && its[1] == b;
}

/* Any number of slots is as good as a power of two, of which up to two thirds would lie idle. */
static uint32_t first_slot(const struct seep_pair_index *index, uint32_t a, uint32_t b)
{
    return (uint32_t)((seep_hash_two(a, b) >> 32) * index->n_slots >> 32);
}

static uint32_t next_slot(const struct seep_pair_index *index, uint32_t at)
{
    return at + 1 < index->n_slots ? at + 1 : 0;
}

uint32_t seep_pair_find(struct seep_pair_index *index, struct seep_pairs nodes, uint32_t a,
                        uint32_t b)
{
    uint32_t id = index->expected;

    if (!index->slots)
        return SEEP_HASH_NONE;
    if (id < index->first || id >= index->end || !is(nodes, id, a, b)) {
        uint32_t at = first_slot(index, a, b);
        while (index->slots[at] && !is(nodes, index->slots[at] - 1, a, b))
            at = next_slot(index, at);
        if (!index->slots[at])
            return SEEP_HASH_NONE;
        id = index->slots[at] - 1;
    }
    index->expected = id + 1;
    return id;
}

static void put(struct seep_pair_index *index, struct seep_pairs nodes, uint32_t id)
{
    const uint32_t *its = node(nodes, id);
    uint32_t at = first_slot(index, its[0], its[1]);

    while (index->slots[at])
        at = next_slot(index, at);
    index->slots[at] = id + 1;
}

static int widen(struct seep_pair_index *index, struct seep_pairs nodes)
{
    const uint64_t size = index->slots ? (uint64_t)index->n_slots * 3 / 2 : 64;

    free(index->slots); /* the nodes tell what was in them */
    index->slots = size <= UINT32_MAX ? calloc(size, sizeof *index->slots) : NULL;
    if (!index->slots)
        return -SEEP_ENOMEM;
    index->n_slots = (uint32_t)size;
    for (uint32_t id = index->first; id < index->end; id++)
        put(index, nodes, id);
    return 0;
}

int seep_pair_add(struct seep_pair_index *index, struct seep_pairs nodes, uint32_t id)
{
    if (index->first == index->end)
        index->first = index->end = id;
    const uint64_t n = index->end - index->first;
    if ((!index->slots || 3 * n >= 2 * (uint64_t)index->n_slots) && widen(index, nodes))
        return -SEEP_ENOMEM;
    put(index, nodes, id);
    index->end = id + 1;
    return 0;
}

void seep_pair_fini(struct seep_pair_index *index)
{
    free(index->slots);
    *index = (struct seep_pair_index){0};
}
