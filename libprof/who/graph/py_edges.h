/* The references that Python's objects hold, by what CPython's own traversal would visit. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_EDGES_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_EDGES_H

#include "libprof/who/graph/py_types.h"

/* Walks all edges of a node that is an object. */
void seep_python_walk(struct seep_heap *heap, uint32_t node);

#endif
