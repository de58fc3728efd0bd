/* What many paths have in common. Paths through linked lists are long, so what is known of a node
 * is derived from its parent, and computed once for each. */
#ifndef SEEP_LIBPROF_WHO_WAYS_WAYS_H
#define SEEP_LIBPROF_WHO_WAYS_WAYS_H

#include "libprof/who/ways/reach.h"

struct seep_ways {
    struct seep_reach *reach;
    uint64_t *hash;    /* [nodes] of the path to each, 0: not known */
    uint16_t *mark;    /* [nodes] of the nearest marked node at or above each, 0: not known */
    uint32_t *pending; /* nodes of the path in question, from its end on */
    size_t capacity;
    uint32_t *hashed, *marked; /* nodes whose hash or mark is known, [n_hashed], [n_marked] */
    size_t n_hashed, hashed_capacity, n_marked, marked_capacity;
    size_t n_steps; /* all steps taken from a node to its parent */
    bool no_memory; /* results since then must not be used */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates, for each node that is asked for at most 22 bytes;
 * seep_ways_fini() in either case. The reach outlives it. */
SEEP_MUST_CHECK int seep_ways_init(struct seep_ways *ways, struct seep_reach *reach);
void seep_ways_fini(struct seep_ways *ways);

/* A search has changed the paths: forgets all hashes and marks. */
void seep_ways_forget(struct seep_ways *ways);
void seep_ways_unmark(struct seep_ways *ways);

/* A hash that is the same for paths that differ only in indices and keys. For a block of C or C++
 * it is the hash of what holds it. */
uint64_t seep_ways_hash(struct seep_ways *ways, uint32_t node);

/* Marks a node and all that is reached through it, before the first question. `mark`: 1 or more. */
void seep_ways_mark(struct seep_ways *ways, uint32_t node, uint16_t mark);

/* The mark of the nearest marked node on the way to `node`, or its own; 0: there is none. `node`
 * may be a parent as reach->parent[] has it. */
uint16_t seep_ways_marked(struct seep_ways *ways, uint32_t node);

#endif
