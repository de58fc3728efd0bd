/* Writes the edges of a heap (edge_read.h). */
#ifndef SEEP_LIBPROF_WHO_SURVEY_EDGE_STORE_H
#define SEEP_LIBPROF_WHO_SURVEY_EDGE_STORE_H

#include "libprof/base/error.h"
#include "libprof/who/survey/edge_read.h"

/* Returns 0 or -SEEP_ENOMEM. Allocates; seep_edge_store_fini() in either case. */
SEEP_MUST_CHECK int seep_edge_store_init(struct seep_edge_store *store);
void seep_edge_store_fini(struct seep_edge_store *store);

/* Begins a node's edges, which are added and ended before the next node's. What does not fit sets
 * `no_memory`. */
void seep_edge_store_begin(struct seep_edge_store *store, uint32_t node);
void seep_edge_store_add(struct seep_edge_store *store, const struct seep_edge *edge);

/* Returns their place, 0 if there is nothing to say of the node. */
uint32_t seep_edge_store_end(struct seep_edge_store *store, const struct seep_edge_facts *facts);

#endif
