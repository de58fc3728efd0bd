/* Passes over a reach that has run, a file each: what else is held, and what is not. */
#ifndef SEEP_LIBPROF_WHO_WAYS_REACH_PASSES_H
#define SEEP_LIBPROF_WHO_WAYS_REACH_PASSES_H

#include "libprof/who/ways/reach.h"

/* Makes the members of cycles that no root reaches roots of their own, of kind SEEP_ROOT_CYCLE, and
 * finds what they hold: what Python's collector will free when it comes by. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_cycles_find(struct seep_reach *reach);

/* Objects that nobody refers to and that count references all the same: somebody took one and never
 * gave it back. Python frees them and what they hold at no time. Makes them roots of their own, of
 * kind SEEP_ROOT_REFERENCE, and finds what they hold: behind seep_cycles_find(), for members of
 * cycles are none. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_references_find(struct seep_reach *reach);

/* What is still reached without a node: only what was reached through it is searched anew, from
 * what else refers there. Both change the reach, and may follow one another; they return 0 or
 * -SEEP_ENOMEM. `node` is noted in reach->excluded[] by the caller. */
SEEP_MUST_CHECK int seep_reach_leave_out(struct seep_reach *reach, uint32_t node);

/* Leaves out the roots whose words are often stale. */
SEEP_MUST_CHECK int seep_reach_leave_doubtful(struct seep_reach *reach);

/* Of each node what is known so far; all zero at first, and when the ways change. */
enum { SEEP_GRAPH_NOT_KNOWN, SEEP_GRAPH_OUTSIDE, SEEP_GRAPH_WITHIN };

/* Whether the way to a node that is reached leads through, or to, a node of an autograd graph: the
 * tensors that operators saved for their backward pass live as long as the loss that somebody kept.
 * `known`: [nodes] what was found before, to which this adds. */
bool seep_graph_holds(const struct seep_reach *reach, uint32_t node, uint8_t *known);

#endif
