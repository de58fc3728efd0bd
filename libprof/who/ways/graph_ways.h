/* What is held by way of nodes of autograd graphs: the tensors that operators saved for their
 * backward pass live as long as the loss that somebody kept. */
#ifndef SEEP_LIBPROF_WHO_WAYS_GRAPH_WAYS_H
#define SEEP_LIBPROF_WHO_WAYS_GRAPH_WAYS_H

#include "libprof/who/ways/reach.h"

/* Of each node what is known so far; all zero at first, and when the ways change. */
enum { SEEP_GRAPH_NOT_KNOWN, SEEP_GRAPH_OUTSIDE, SEEP_GRAPH_WITHIN };

/* Whether the way to a node that is reached leads through, or to, a node of a graph. `known`:
 * [nodes] what was found before, to which this adds. */
bool seep_graph_holds(const struct seep_reach *reach, uint32_t node, uint8_t *known);

#endif
