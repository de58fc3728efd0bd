/* Dominators of the nodes that are no leaves, as a tree of vertices. */
#ifndef SEEP_LIBPROF_WHO_RETAINED_DOMINATOR_TREE_H
#define SEEP_LIBPROF_WHO_RETAINED_DOMINATOR_TREE_H

#include "libprof/who/ways/reach.h"

/* Vertices are numbered by a depth-first search from 1 on; vertex 0 is above all that roots reach.
 */
struct seep_dominator_tree {
    uint32_t *vertex; /* [nodes] 0: a leaf, or no root reaches it */
    uint32_t *node;   /* [n] */
    uint32_t *above;  /* [n] the vertex that dominates it directly, of a smaller number */
    uint32_t n;       /* vertices, with 0, */
    uint32_t n_sure;  /* of which those from here on are reached by doubtful words alone */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_dominator_tree_fini() in either case. */
SEEP_MUST_CHECK int seep_dominator_tree_find(struct seep_dominator_tree *tree,
                                             const struct seep_reach *reach);
void seep_dominator_tree_fini(struct seep_dominator_tree *tree);

#endif
