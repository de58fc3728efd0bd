/* What the nodes of a way are: types of objects, and what is alike in one and the next. */
#ifndef SEEP_LIBPROF_WHO_WAYS_WAY_TYPES_H
#define SEEP_LIBPROF_WHO_WAYS_WAY_TYPES_H

#include "libprof/who/ways/reach.h"

#include "libprof/who/graph/py_types.h"

enum { SEEP_WAY_MANY_KEYS = 16 }; /* places of more are contents, and not told apart */

/* The type of a node's object; NULL: it is none of Python's. */
const struct seep_pytype *seep_way_type(struct seep_heap *heap, uint32_t node);

/* How many a node's container has; −1: it is none. */
int64_t seep_way_length(struct seep_heap *heap, uint32_t node);

/* Whether what leads to a node has a name that says something, like an attribute's. */
bool seep_way_has_name(enum seep_label_kind kind);

/* Whether a node is reached from its parent as that is from its own: a linked list. */
bool seep_way_repeats(struct seep_reach *reach, uint32_t node);

#endif
