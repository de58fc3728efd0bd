/* How much a container holds, and how much it may hold by its own word. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_SHAPE_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_SHAPE_H

#include "libprof/who/graph/py_types.h"

/* What a container holds, or −1: of a dict, list, tuple, set, deque or lru_cache. */
int64_t seep_python_length(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type);

/* How much it may ever hold, by its own word (maxlen, maxsize), or −1. */
int64_t seep_python_bound(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type);

/* How many objects a numpy array has as its elements, one behind the other; −1: they are none. */
int64_t seep_python_array_objects(struct seep_heap *heap, uint64_t array);

#endif
