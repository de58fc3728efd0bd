/* Numbers that look like addresses of a low heap, told from addresses by where they point. A
 * program that keeps an address inside each block of one kind points to the same place in each, or
 * keeps many of them. */
#ifndef SEEP_LIBPROF_WHO_WAYS_INNER_STRAYS_H
#define SEEP_LIBPROF_WHO_WAYS_INNER_STRAYS_H

#include "libprof/base/error.h"
#include "libprof/who/graph/graph.h"

/* How many words point into each block, and where the first of them points. */
struct seep_inner_hits {
    uint8_t *n;       /* [n_blocks] 255: or more */
    uint64_t *offset; /* [n_blocks] bytes from its start */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_inner_hits_fini() in either case. */
SEEP_MUST_CHECK int seep_inner_hits_init(struct seep_inner_hits *hits,
                                         const struct seep_heap *heap);
void seep_inner_hits_fini(struct seep_inner_hits *hits);

/* A word points into a block, so many bytes from its start. */
void seep_inner_hits_add(struct seep_inner_hits *hits, uint32_t node, uint64_t inside);

/* Withdraws heap->inner's mark from blocks of a low heap that only stray numbers point into: if
 * most of the blocks of one site that were hit are hit by few words, each at a different place.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_inner_hits_drop_strays(const struct seep_inner_hits *hits,
                                                struct seep_heap *heap);

#endif
