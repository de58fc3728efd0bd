/* What Python's objects refer to, by what CPython's own traversal would visit, and how much
 * containers hold; a file each for dicts with attributes, for frames, and for that. A frame has the
 * variables of a function that runs, or that a generator or an exception keeps. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_WALK_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_WALK_H

#include "libprof/who/graph/py_types.h"

/* Walks all edges of a node that is an object. */
void seep_python_walk(struct seep_heap *heap, uint32_t node);

/* Calls for each entry of a dict, in its order; `key` may be 0 where values of instances have none.
 */
typedef void seep_dict_taker(struct seep_heap *heap, uint64_t key, uint64_t value, void *context);
void seep_python_dict_each(struct seep_heap *heap, uint64_t dict, seep_dict_taker *take,
                           void *context);

/* Walks a dict's keys and values; `as_attributes`: it is an instance's or a module's. */
void seep_python_walk_dict(struct seep_heap *heap, uint64_t dict, bool as_attributes);

/* Walks the attributes of an instance, wherever its version of Python keeps them. */
void seep_python_walk_attributes(struct seep_heap *heap, uint32_t node,
                                 const struct seep_pytype *type);

/* Cost of a reference to `object`: modules as values are no owners that one would name. */
unsigned seep_python_cost(struct seep_heap *heap, uint64_t object);

/* Walks a frame's variables and what is on its stack, `cost` away; `running`: of its stack nobody
 * has written down where it ends. */
void seep_python_walk_frame(struct seep_heap *heap, uint64_t frame, unsigned cost, bool running);

/* Address of a frame's code object. */
uint64_t seep_python_frame_code(struct seep_heap *heap, uint64_t frame);

/* What a container holds, or −1: of a dict, list, tuple, set, deque or lru_cache. */
int64_t seep_python_length(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type);

/* How much it may ever hold, by its own word (maxlen, maxsize), or −1. */
int64_t seep_python_bound(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type);

/* How many objects a numpy array has as its elements, one behind the other; −1: they are none. */
int64_t seep_python_array_objects(struct seep_heap *heap, uint64_t array);

#endif
