/* What keeps what alive: a node dominates another one if every way from a root to that one leads
 * through it, so that all that it dominates goes with it. Its retained size is its own and that of
 * all that it dominates. Memory that two hold is retained by neither, but by what holds both. */
#ifndef SEEP_LIBPROF_WHO_RETAINED_DOMINATORS_H
#define SEEP_LIBPROF_WHO_RETAINED_DOMINATORS_H

#include "libprof/who/ways/refs.h"

/* In `by`: roots alone reach the node, by ways that share nothing. */
#define SEEP_DOMINATED_BY_NONE (SEEP_NODE_NONE - 1)

struct seep_dominators {
    uint32_t n_nodes;
    uint32_t *by;       /* [n_nodes] the nearest node that dominates each; SEEP_DOMINATED_BY_NONE;
                         * SEEP_NODE_NONE: no root reaches it */
    uint64_t *retained; /* [n_nodes] bytes, 0 for what is not reached */
    uint32_t *order;    /* [n_order] what is reached; whatever dominates a node comes before it */
    uint32_t n_order;
};

/* Of references that were noted and turned; nodes[] has their sizes. In O(m log n) whatever they
 * look like. Returns 0 or -SEEP_ENOMEM. Allocates; seep_dominators_fini() in either case. */
SEEP_MUST_CHECK int seep_dominators_find(struct seep_dominators *d, const struct seep_refs *refs,
                                         const struct seep_node *nodes);
void seep_dominators_fini(struct seep_dominators *d);

#endif
