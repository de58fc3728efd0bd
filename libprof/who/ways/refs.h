/* Who refers to whom, as a search has met it: noted once, so that what lies behind a node, and what
 * else leads there, can be told without reading the memory again. */
#ifndef SEEP_LIBPROF_WHO_WAYS_REFS_H
#define SEEP_LIBPROF_WHO_WAYS_REFS_H

#include "libprof/base/error.h"
#include "libprof/who/graph/graph.h"

/* A reference that comes from a root. */
struct seep_root_ref {
    uint32_t root, to;
    unsigned distance;
    seep_label label;
};

struct seep_refs {
    uint32_t n_nodes;
    uint32_t *to; /* [n] what nodes refer to, one node's behind the other's */
    size_t n, capacity;
    uint32_t *first, *count; /* [n_nodes] in `to` */
    uint32_t *from;          /* [n] who refers to each node, once they are turned */
    uint32_t *from_end;      /* [n_nodes] in `from`; they begin where the node before ends */
    struct seep_root_ref *roots;
    size_t n_roots, roots_capacity;
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_refs_fini() in either case. */
SEEP_MUST_CHECK int seep_refs_init(struct seep_refs *refs, uint32_t n_nodes);
void seep_refs_fini(struct seep_refs *refs);

/* From here on references are noted that `node` makes; those that were noted before are forgotten.
 */
void seep_refs_begin(struct seep_refs *refs, uint32_t node);

/* Both return 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_refs_add(struct seep_refs *refs, uint32_t from, uint32_t to);
SEEP_MUST_CHECK int seep_refs_add_root(struct seep_refs *refs, struct seep_root_ref ref);

/* All are noted: sorts them by what they lead to, as well. May be called again. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_refs_turn(struct seep_refs *refs);

#endif
