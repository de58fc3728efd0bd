/* The edges of a heap, one node's after the other, in some three bytes each: targets as differences
 * from the one before, and what edges have in common, their kind, as a number. Each node's come
 * with what a container says of itself. Reading is in line: each search does it for each edge. */
#ifndef SEEP_LIBPROF_WHO_SURVEY_EDGE_STORE_H
#define SEEP_LIBPROF_WHO_SURVEY_EDGE_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "libprof/base/error.h"
#include "libprof/who/graph/label.h"

struct seep_edge {
    uint32_t to;
    uint8_t marks;
    uint16_t cost;
    seep_label label;
    uint64_t inside; /* bytes into the target; only of inner edges */
};

struct seep_edge_kind {
    seep_label label; /* with its value, where edges of one kind share it */
    uint16_t cost;
    uint8_t marks;
};

enum { SEEP_EDGE_KINDS = 1 << 12 };

struct seep_edge_store {
    uint8_t *bytes; /* [n] of all nodes that have any; the first is not used */
    size_t n, capacity;
    struct seep_edge_kind *kinds; /* [n_kinds] the first few have other meanings */
    uint32_t n_kinds;
    uint16_t *by_hash; /* [2 * SEEP_EDGE_KINDS] */
    size_t first;      /* where the edges of the node begin that is being written */
    uint32_t last;     /* the node, or the target, that the next one is told from */
    uint64_t next;     /* the index that the next one of a list has */
    bool no_memory;
};

/* What a node's edges come with. */
struct seep_edge_facts {
    int64_t length, bound;       /* of a container, else -1 */
    uint64_t with_bytes, n_with; /* of so many blocks that have no node, and go with this one */
};

/* Where somebody is in a node's edges. */
struct seep_edge_cursor {
    uint32_t at; /* in the store's bytes */
    uint32_t last;
    uint64_t next;
};

/* A node has numbers of seven bits in each byte, the lowest first: what is said of the node, and
 * for each edge the number of its kind, the target, and what its label and its marks ask for. */
enum {
    SEEP_EDGES_END,     /* ends a node's edges */
    SEEP_EDGE_OTHER,    /* a kind that has no number of its own: it is written out */
    SEEP_EDGE_NUMBERED, /* from here on they have */
};

/* The first number of a node: flags, and above them the length, plus 1. */
enum { SEEP_EDGES_HAVE_BOUND = 1, SEEP_EDGES_HAVE_WITH = 2, SEEP_EDGES_LENGTH = 2 };

/* Whether edges that are alike otherwise differ in their labels' values. */
static inline bool seep_edge_is_told(seep_label label)
{
    enum {
        TOLD = 1 << SEEP_LABEL_ATTRIBUTE | 1 << SEEP_LABEL_MEMBER | 1 << SEEP_LABEL_KEY |
               1 << SEEP_LABEL_ENTRY | 1 << SEEP_LABEL_INDEX | 1 << SEEP_LABEL_LOCAL |
               1 << SEEP_LABEL_OFFSET | 1 << SEEP_LABEL_ADDRESS | 1 << SEEP_LABEL_MODULE
    };

    return TOLD >> seep_label_kind(label) & 1;
}

static inline uint64_t seep_edge_number(const uint8_t **at)
{
    uint64_t value = *(*at)++;

    if (value < 0x80)
        return value;
    value &= 0x7f;
    for (unsigned shift = 7; shift < 64; shift += 7) {
        const uint8_t byte = *(*at)++;
        value |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            break;
    }
    return value;
}

/* Small differences are small numbers, whatever their sign. */
static inline int64_t seep_edge_difference(const uint8_t **at)
{
    const uint64_t value = seep_edge_number(at);

    return (int64_t)(value >> 1) ^ -(int64_t)(value & 1);
}

/* Opens the edges at a place; *facts as they were given. */
static inline struct seep_edge_cursor seep_edge_store_open(const struct seep_edge_store *store,
                                                           uint32_t place, uint32_t node,
                                                           struct seep_edge_facts *facts)
{
    const uint8_t *at = store->bytes + place;
    const uint64_t head = seep_edge_number(&at);

    facts->length = (int64_t)(head >> SEEP_EDGES_LENGTH) - 1;
    facts->bound = head & SEEP_EDGES_HAVE_BOUND ? (int64_t)seep_edge_number(&at) : -1;
    facts->with_bytes = head & SEEP_EDGES_HAVE_WITH ? seep_edge_number(&at) : 0;
    facts->n_with = head & SEEP_EDGES_HAVE_WITH ? seep_edge_number(&at) : 0;
    return (struct seep_edge_cursor){.at = (uint32_t)(at - store->bytes), .last = node};
}

/* False: there are no more. */
static inline bool seep_edge_store_next(const struct seep_edge_store *store,
                                        struct seep_edge_cursor *cursor, struct seep_edge *edge)
{
    const uint8_t *at = store->bytes + cursor->at;
    const uint64_t number = seep_edge_number(&at);
    struct seep_edge_kind kind;

    if (number == SEEP_EDGES_END)
        return false;
    if (number == SEEP_EDGE_OTHER) { /* these are rare */
        kind.label = seep_edge_number(&at);
        const uint64_t rest = seep_edge_number(&at);
        kind.cost = (uint16_t)(rest >> 8);
        kind.marks = (uint8_t)rest;
    } else {
        kind = store->kinds[number];
    }
    cursor->last = (uint32_t)((int64_t)cursor->last + seep_edge_difference(&at));
    edge->to = cursor->last;
    edge->marks = kind.marks;
    edge->cost = kind.cost;
    edge->label = kind.label;
    if (seep_label_kind(kind.label) == SEEP_LABEL_INDEX) {
        cursor->next += (uint64_t)seep_edge_difference(&at);
        edge->label = seep_label_of(SEEP_LABEL_INDEX, cursor->next++);
    } else if (seep_edge_is_told(kind.label)) {
        edge->label |= seep_edge_number(&at);
    }
    edge->inside = kind.marks & SEEP_EDGE_INNER ? seep_edge_number(&at) : 0;
    cursor->at = (uint32_t)(at - store->bytes);
    return true;
}

/* Writing. Returns 0 or -SEEP_ENOMEM. Allocates; seep_edge_store_fini() in either case. */
SEEP_MUST_CHECK int seep_edge_store_init(struct seep_edge_store *store);
void seep_edge_store_fini(struct seep_edge_store *store);

/* Begins a node's edges, which are added and ended before the next node's. What does not fit sets
 * `no_memory`. */
void seep_edge_store_begin(struct seep_edge_store *store, uint32_t node);
void seep_edge_store_add(struct seep_edge_store *store, const struct seep_edge *edge);

/* Returns their place, 0 if there is nothing to say of the node. */
uint32_t seep_edge_store_end(struct seep_edge_store *store, const struct seep_edge_facts *facts);

#endif
