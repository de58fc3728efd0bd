/* The edges of a heap, one node's after the other, in some three bytes each: targets as differences
 * from the one before, and what edges have in common, their kind, as a number. Each node's come
 * with what a container says of itself. */
#ifndef SEEP_LIBPROF_WHO_SURVEY_EDGE_STORE_H
#define SEEP_LIBPROF_WHO_SURVEY_EDGE_STORE_H

#include "libprof/base/error.h"
#include "libprof/who/graph/label.h"

#include <stdbool.h>
#include <stddef.h>

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

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_edge_store_fini() in either case. */
SEEP_MUST_CHECK int seep_edge_store_init(struct seep_edge_store *store);
void seep_edge_store_fini(struct seep_edge_store *store);

/* What a node's edges come with. */
struct seep_edge_facts {
    int64_t length, bound;       /* of a container, else -1 */
    uint64_t with_bytes, n_with; /* of so many blocks that have no node, and go with this one */
};

/* Begins a node's edges, which are added and ended before the next node's. What does not fit sets
 * `no_memory`. */
void seep_edge_store_begin(struct seep_edge_store *store, uint32_t node);
void seep_edge_store_add(struct seep_edge_store *store, const struct seep_edge *edge);

/* Returns their place, 0 if there is nothing to say of the node. */
uint32_t seep_edge_store_end(struct seep_edge_store *store, const struct seep_edge_facts *facts);

/* Where somebody is in a node's edges. */
struct seep_edge_cursor {
    uint32_t at; /* in the store's bytes */
    uint32_t last;
    uint64_t next;
};

/* Opens the edges at a place; *facts as they were given. */
struct seep_edge_cursor seep_edge_store_open(const struct seep_edge_store *store, uint32_t place,
                                             uint32_t node, struct seep_edge_facts *facts);

/* False: there are no more. */
bool seep_edge_store_next(const struct seep_edge_store *store, struct seep_edge_cursor *cursor,
                          struct seep_edge *edge);

#endif
