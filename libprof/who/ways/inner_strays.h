/* Numbers that look like addresses of a low heap: told from addresses by where they lead to. Who
 * keeps an address inside of each block of one kind keeps it at one place of each, or keeps many.
 */
#ifndef SEEP_LIBPROF_WHO_WAYS_INNER_STRAYS_H
#define SEEP_LIBPROF_WHO_WAYS_INNER_STRAYS_H

#include "libprof/base/error.h"
#include "libprof/who/graph/graph.h"

/* How many words led into each block, and where the first of them did. */
struct seep_inner_hits {
    uint8_t *n;       /* [n_blocks] 255: or more */
    uint64_t *offset; /* [n_blocks] bytes from its start */
};

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_inner_hits_fini() in either case. */
SEEP_MUST_CHECK int seep_inner_hits_init(struct seep_inner_hits *hits,
                                         const struct seep_heap *heap);
void seep_inner_hits_fini(struct seep_inner_hits *hits);

/* A word was met that leads into a block, at heap->inner_at. */
void seep_inner_hits_add(struct seep_inner_hits *hits, const struct seep_heap *heap, uint32_t node);

/* Takes heap->inner's word back of blocks of a low heap that only stray numbers lead into: most of
 * those of one site that were met, each by a few words at a place of its own. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_inner_hits_drop_strays(const struct seep_inner_hits *hits,
                                                struct seep_heap *heap);

#endif
