/* Dicts, and attributes of instances that have none yet. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_DICTS_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_DICTS_H

#include "libprof/who/graph/py_types.h"

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

#endif
