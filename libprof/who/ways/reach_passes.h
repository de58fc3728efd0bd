/* Passes over a reach that has run, one file each: what else is held, and what is not. */
#ifndef SEEP_LIBPROF_WHO_WAYS_REACH_PASSES_H
#define SEEP_LIBPROF_WHO_WAYS_REACH_PASSES_H

#include "libprof/who/ways/reach.h"

/* Makes the members of cycles that no root reaches roots of kind SEEP_ROOT_CYCLE, and finds what
 * they hold: the memory that Python's collector will free when it runs. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_cycles_find(struct seep_reach *reach);

/* Finds objects that nothing refers to although their reference count is not 0: a reference was
 * taken and never given back. Python never frees them, nor what they hold. Makes them roots of kind
 * SEEP_ROOT_REFERENCE, and finds what they hold. Runs after seep_cycles_find(), since members of
 * cycles do not count. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_references_find(struct seep_reach *reach);

/* What is still reached without a node. Only what was reached through it is searched again, from
 * whatever else refers there. Both change the reach, and may follow each other; they return 0 or
 * -SEEP_ENOMEM. The caller notes `node` in reach->excluded[]. */
SEEP_MUST_CHECK int seep_reach_leave_out(struct seep_reach *reach, uint32_t node);

/* Leaves out the roots whose words are often stale. */
SEEP_MUST_CHECK int seep_reach_leave_doubtful(struct seep_reach *reach);

/* Whether a native holder belongs to a runtime that unrelated variables lead to. */
enum { SEEP_SHARED_NEAR = 64 };

struct seep_shared {
    struct seep_reach *reach;
    uint32_t nodes[SEEP_SHARED_NEAR]; /* of the way to the holder, from the root on */
    size_t n, from;                   /* nodes[from, n) are native, behind an object of Python's */
    size_t n_left_out;
    uint32_t node; /* the first of these that is still reached; SEEP_NODE_NONE: none, or the way
                    * does not end so */
};

void seep_shared_begin(struct seep_shared *shared, struct seep_reach *reach, uint32_t holder);

/* Leaves out what the variable refers to that leads to `node` now. *more: there was one; at most
 * SEEP_REACH_EXCLUDED. The caller puts paths and reach->excluded[] back. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_shared_leave_out(struct seep_shared *shared, bool *more);

/* What is known of each node so far; all zero at first, and again when the paths change. */
enum { SEEP_GRAPH_NOT_KNOWN, SEEP_GRAPH_OUTSIDE, SEEP_GRAPH_WITHIN };

/* Whether the path to a reached node leads through, or to, a node of an autograd graph: the tensors
 * that operators saved for the backward pass live as long as a kept loss. `known`: [nodes] earlier
 * results, to which this adds. */
bool seep_graph_holds(const struct seep_reach *reach, uint32_t node, uint8_t *known);

#endif
