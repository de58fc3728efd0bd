/* What Python's objects refer to, as CPython's own traversal visits them, and how much containers
 * hold. A frame has the variables of a function that runs, or that a generator or an exception
 * keeps. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_WALK_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_WALK_H

#include "libprof/who/graph/py_types.h"

/* Walks all edges of a node that is an object. */
void seep_python_walk(struct seep_heap *heap, uint32_t node);

/* Calls back for each entry of a dict, in its order; `key` may be 0 if values of instances have
 * none. */
typedef void seep_dict_taker(struct seep_heap *heap, uint64_t key, uint64_t value, void *context);
void seep_python_dict_each(struct seep_heap *heap, uint64_t dict, seep_dict_taker *take,
                           void *context);

/* Keys of a larger dict are contents, and their texts not shown. */
enum { SEEP_DICT_FEW = 16 };

/* The value of a small int that is not negative: of one or two digits of 30 bits. */
bool seep_python_int(struct seep_heap *heap, uint64_t object, uint64_t *value);

/* Walks a dict's keys and values; `as_attributes`: it is an instance's or a module's. */
void seep_python_walk_dict(struct seep_heap *heap, uint64_t dict, bool as_attributes);

/* Walks the attributes of an instance, wherever its version of Python keeps them. */
void seep_python_walk_attributes(struct seep_heap *heap, uint32_t node,
                                 const struct seep_pytype *type);

/* Cost of a reference to `object`: nobody would name a module as an owner. */
unsigned seep_python_cost(struct seep_heap *heap, uint64_t object);

/* Walks a frame's variables and its stack, at distance `cost`; `running`: the end of its stack is
 * not stored. */
void seep_python_walk_frame(struct seep_heap *heap, uint64_t frame, unsigned cost, bool running);

/* Address of a frame's code object. */
uint64_t seep_python_frame_code(struct seep_heap *heap, uint64_t frame);

/* How many entries a dict, list, tuple, set, deque or lru_cache has; −1: not a container. */
int64_t seep_python_length(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type);

/* How many entries it can have, by its own bound (maxlen, maxsize), or −1. */
int64_t seep_python_bound(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type);

#endif
