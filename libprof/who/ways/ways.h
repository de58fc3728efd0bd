/* What many ways have in common. A way is a long one where lists are linked: what is told of a node
 * follows from what is told of its parent, and is worked out once for each. */
#ifndef SEEP_LIBPROF_WHO_WAYS_WAYS_H
#define SEEP_LIBPROF_WHO_WAYS_WAYS_H

#include "libprof/who/ways/reach.h"

struct seep_ways {
    struct seep_reach *reach;
    uint64_t *hash;    /* [nodes] of the way to each, 0: not known */
    uint16_t *mark;    /* [nodes] the nearest one above or at each, 0: not known */
    uint32_t *pending; /* nodes of the way that is asked about, from its end on */
    size_t capacity;
    size_t n_steps; /* from a node to its parent, in all */
    bool no_memory; /* what is told since is not to be used */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_ways_fini() in either case. The reach outlives it. */
SEEP_MUST_CHECK int seep_ways_init(struct seep_ways *ways, struct seep_reach *reach);
void seep_ways_fini(struct seep_ways *ways);

/* A search has changed the ways: nothing is known of them any more, nor are there marks. */
void seep_ways_forget(struct seep_ways *ways);
void seep_ways_unmark(struct seep_ways *ways);

/* A number that ways have in common which differ in indices and keys only. Of a block of C or C++
 * it is that of what it is held by. */
uint64_t seep_ways_hash(struct seep_ways *ways, uint32_t node);

/* Marks a node and all that is reached through it, before it is asked. `mark`: 1 or more. */
void seep_ways_mark(struct seep_ways *ways, uint32_t node, uint16_t mark);

/* The mark of the nearest marked node on the way to `node`, or its own; 0: there is none. `node`
 * may be a parent as reach->parent[] has it. */
uint16_t seep_ways_marked(struct seep_ways *ways, uint32_t node);

#endif
