/* A heap that can be walked: its nodes, and the edges of nodes of every kind. */
#ifndef SEEP_LIBPROF_WHO_SURVEY_HEAP_H
#define SEEP_LIBPROF_WHO_SURVEY_HEAP_H

#include "libprof/who/graph/edges.h"

/* Makes the graph of the live blocks, and of what lies in `cells`, read from `memory` with
 * `maps`, which outlive it (memory and cells only until it was surveyed); the caller sets `python`,
 * `own`, `cells` and what goes with them, all else in *heap is zero. Returns 0 or -SEEP_ENOMEM.
 * Allocates; seep_heap_fini() in either case. */
SEEP_MUST_CHECK int seep_heap_init(struct seep_heap *heap, struct seep_memory *memory,
                                   const struct seep_maps *maps,
                                   const struct seep_snapshot_block *blocks, size_t n);
void seep_heap_fini(struct seep_heap *heap);

/* Walks all edges of a node, as they are read from memory. */
void seep_heap_read(struct seep_heap *heap, uint32_t node);

#endif
