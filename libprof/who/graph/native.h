/* Blocks of C and C++: conservative, but for what their classes say. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_NATIVE_H
#define SEEP_LIBPROF_WHO_GRAPH_NATIVE_H

#include "libprof/who/graph/edges.h"

/* Walks the words of a block that may be addresses; of a tensor's storage only its own. */
void seep_native_walk(struct seep_heap *heap, uint32_t node);

/* The name of the C++ class that a vtable's type_info has, its last two parts, as
 * "AutogradMeta" or "c10::TensorImpl"; false, and "", where there is none. */
bool seep_native_class(struct seep_heap *heap, uint64_t vtable, char *to, size_t capacity);

#endif
