/* Reads Python's arenas: what in them needs a node, and what goes with its owner. */
#ifndef SEEP_LIBPROF_WHO_SURVEY_READ_CELLS_H
#define SEEP_LIBPROF_WHO_SURVEY_READ_CELLS_H

#include "libprof/who/graph/cells.h"
#include "libprof/who/graph/graph.h"

/* All arenas are added: reads what is in them, from heap->memory, and adds the nodes that are
 * needed to the heap, which is not complete yet; what they are is known then. Ends early once the
 * heap has more than `most_nodes`. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_cells_read(struct seep_cells *cells, struct seep_heap *heap);

#endif
