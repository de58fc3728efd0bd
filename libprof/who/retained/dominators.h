/* What keeps what alive: a node dominates another one if every path from a root to the other leads
 * through it, so the other is freed with it. A node's retained size is its own size (with what
 * has no node and goes with it) plus that of all nodes that it dominates. Memory that two nodes
 * hold is retained by neither, but by what holds both. */
#ifndef SEEP_LIBPROF_WHO_RETAINED_DOMINATORS_H
#define SEEP_LIBPROF_WHO_RETAINED_DOMINATORS_H

#include "libprof/who/ways/reach.h"

/* In `by`: only roots reach the node, by paths that share nothing. */
#define SEEP_DOMINATED_BY_NONE (SEEP_NODE_NONE - 1)

struct seep_dominators {
    uint32_t n_nodes;
    uint32_t *by;       /* [n_nodes] the nearest node that dominates each; SEEP_DOMINATED_BY_NONE;
                         * SEEP_NODE_NONE: no root reaches it */
    uint64_t *retained; /* [n_nodes] bytes, 0 if not reached; NULL: not asked for */
    uint32_t *order;    /* [n_order] reached nodes; each comes after its dominators */
    uint32_t n_order;
};

/* Of a reach that has run; `with_sizes`: retained bytes are asked for. Runs in O(m log n) for any
 * graph. Returns 0 or -SEEP_ENOMEM. Allocates, while it runs 36 bytes for each node that has edges,
 * and four for each edge to such a node; seep_dominators_fini() in either case. */
SEEP_MUST_CHECK int seep_dominators_find(struct seep_dominators *d, const struct seep_reach *reach,
                                         bool with_sizes);

/* Adds to each node's size that of all nodes that it dominates: sizes[n_nodes], of any memory. */
void seep_dominators_sum(const struct seep_dominators *d, uint64_t *sizes);
void seep_dominators_fini(struct seep_dominators *d);

#endif
