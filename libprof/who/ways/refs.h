/* The references that a search has met. Each is noted once, so that it can be told what a node
 * leads to, and what else leads there, without reading memory again. */
#ifndef SEEP_LIBPROF_WHO_WAYS_REFS_H
#define SEEP_LIBPROF_WHO_WAYS_REFS_H

#include "libprof/base/error.h"
#include "libprof/who/graph/graph.h"

/* A reference that comes from a root. */
struct seep_root_ref {
    uint32_t root, to;
    unsigned distance;
    bool doubtful; /* its root's words are often stale, as a frame's stack of temporaries is */
    seep_label label;
};

struct seep_refs {
    uint32_t n_nodes;
    uint32_t *to; /* [n] what nodes refer to, grouped by node */
    size_t n, capacity;
    uint32_t *first, *count; /* [n_nodes] in `to` */
    uint32_t *from;          /* [n] what refers to each node, after seep_refs_turn() */
    uint32_t *from_end;      /* [n_nodes] in `from`; they begin where the previous node's end */
    struct seep_root_ref *roots;
    size_t n_roots, roots_capacity;
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_refs_fini() in either case. */
SEEP_MUST_CHECK int seep_refs_init(struct seep_refs *refs, uint32_t n_nodes);
void seep_refs_fini(struct seep_refs *refs);

/* From here on references of `node` are noted; its earlier ones are forgotten. */
void seep_refs_begin(struct seep_refs *refs, uint32_t node);

/* Both return 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_refs_add(struct seep_refs *refs, uint32_t from, uint32_t to);
SEEP_MUST_CHECK int seep_refs_add_root(struct seep_refs *refs, struct seep_root_ref ref);

/* All references are noted: sorts them by target as well. May be called again. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_refs_turn(struct seep_refs *refs);

#endif
