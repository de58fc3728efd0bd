#include "libprof/who/survey/edge_store.h"

#include <stdlib.h>
#include <string.h>

#include "libprof/base/hash_index.h"

enum {
    VARINT = 10, /* bytes that a number takes at most */
    MOST = 8 * VARINT,
    HASHED = 2 * SEEP_EDGE_KINDS,
};

int seep_edge_store_init(struct seep_edge_store *store)
{
    *store = (struct seep_edge_store){.n = 1, .n_kinds = SEEP_EDGE_NUMBERED};
    store->kinds = calloc(SEEP_EDGE_KINDS, sizeof *store->kinds);
    store->by_hash = calloc(HASHED, sizeof *store->by_hash);
    return store->kinds && store->by_hash ? 0 : -SEEP_ENOMEM;
}

void seep_edge_store_fini(struct seep_edge_store *store)
{
    free(store->bytes);
    free(store->kinds);
    free(store->by_hash);
    *store = (struct seep_edge_store){0};
}

/* Seven bits in each byte, the lowest first. */
static void put(struct seep_edge_store *store, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        store->bytes[store->n++] = (uint8_t)(value | 0x80);
    store->bytes[store->n++] = (uint8_t)value;
}

static bool has_room(struct seep_edge_store *store)
{
    if (!store->no_memory && store->n + MOST < UINT32_MAX &&
        !seep_grow(&store->bytes, &store->capacity, store->n + MOST, sizeof *store->bytes))
        return true;
    store->no_memory = true;
    return false;
}

/* Small differences are small numbers, whatever their sign. */
static uint64_t fold(int64_t value)
{
    return (uint64_t)value << 1 ^ (uint64_t)(value >> 63);
}

void seep_edge_store_begin(struct seep_edge_store *store, uint32_t node)
{
    store->first = store->n;
    store->last = node;
    store->next = 0;
}

static uint32_t kind_of(struct seep_edge_store *store, const struct seep_edge_kind *kind)
{
    const uint64_t hash = seep_hash_two(kind->label, (uint64_t)kind->cost << 8 | kind->marks);
    size_t at = hash % HASHED;

    for (; store->by_hash[at]; at = (at + 1) % HASHED) {
        const struct seep_edge_kind *one = &store->kinds[store->by_hash[at]];
        if (one->label == kind->label && one->cost == kind->cost && one->marks == kind->marks)
            return store->by_hash[at];
    }
    if (store->n_kinds == SEEP_EDGE_KINDS)
        return SEEP_EDGE_OTHER;
    store->by_hash[at] = (uint16_t)store->n_kinds;
    store->kinds[store->n_kinds] = *kind;
    return store->n_kinds++;
}

void seep_edge_store_add(struct seep_edge_store *store, const struct seep_edge *edge)
{
    const bool told = seep_edge_is_told(edge->label);
    const uint64_t value = seep_label_value(edge->label);
    const struct seep_edge_kind kind = {told ? seep_label_of(seep_label_kind(edge->label), 0)
                                             : edge->label,
                                        edge->cost, edge->marks};

    if (!has_room(store))
        return;
    const uint32_t number = kind_of(store, &kind);
    put(store, number);
    if (number == SEEP_EDGE_OTHER) {
        put(store, kind.label);
        put(store, (uint64_t)kind.cost << 8 | kind.marks);
    }
    put(store, fold((int64_t)edge->to - (int64_t)store->last));
    if (seep_label_kind(edge->label) == SEEP_LABEL_INDEX) {
        put(store, fold((int64_t)(value - store->next)));
        store->next = value + 1;
    } else if (told) {
        put(store, value);
    }
    if (edge->marks & SEEP_EDGE_INNER)
        put(store, edge->inside);
    store->last = edge->to;
}

/* What is said of the node comes before its edges, and is known after them. */
uint32_t seep_edge_store_end(struct seep_edge_store *store, const struct seep_edge_facts *facts)
{
    const size_t first = store->first, edges = store->n - first;
    uint8_t *at;

    if ((!edges && facts->length < 0 && !facts->n_with) || !has_room(store))
        return 0;
    put(store, SEEP_EDGES_END);
    const size_t end = store->n;
    put(store, (uint64_t)(facts->length + 1) << SEEP_EDGES_LENGTH |
                   (facts->bound >= 0 ? SEEP_EDGES_HAVE_BOUND : 0) |
                   (facts->n_with ? SEEP_EDGES_HAVE_WITH : 0));
    if (facts->bound >= 0)
        put(store, (uint64_t)facts->bound);
    if (facts->n_with) {
        put(store, facts->with_bytes);
        put(store, facts->n_with);
    }
    uint8_t head[MOST];
    const size_t n = store->n - end;
    at = store->bytes + first;
    memcpy(head, store->bytes + end, n);
    memmove(at + n, at, edges + 1);
    memcpy(at, head, n);
    return (uint32_t)first;
}
