/* An index of nodes by the two numbers that they begin with, such as a tree's by parent and frame.
 * A slot is four bytes: the nodes are the keys. */
#ifndef SEEP_LIBPROF_BASE_PAIR_INDEX_H
#define SEEP_LIBPROF_BASE_PAIR_INDEX_H

#include "libprof/base/hash_index.h"

/* All zero: empty. */
struct seep_pair_index {
    uint32_t *slots; /* id + 1 */
    uint32_t n_slots;
    uint32_t first, end; /* ids that are in it: [first, end) */
    uint32_t expected; /* the one after the last found: nodes are often asked for in their order */
};

/* The nodes: an array of structures of `bytes` each that begin with two uint32_t. */
struct seep_pairs {
    const void *list;
    size_t bytes;
};

/* The id of the node {a, b}; SEEP_HASH_NONE if it was not added. */
uint32_t seep_pair_find(struct seep_pair_index *index, struct seep_pairs nodes, uint32_t a,
                        uint32_t b);

/* Adds the node that follows the last one added, or the first of all. It is in the array already.
 * Returns 0 or -SEEP_ENOMEM, after which the index is of no use. Allocates. */
SEEP_MUST_CHECK int seep_pair_add(struct seep_pair_index *index, struct seep_pairs nodes,
                                  uint32_t id);
void seep_pair_fini(struct seep_pair_index *index);

#endif
