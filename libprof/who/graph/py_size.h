/* How many bytes Python's objects and their memory have, by their types: what sys.getsizeof() says.
 * For processes whose allocator does not tell. What is not known for certain counts as 0. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_SIZE_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_SIZE_H

#include "libprof/who/graph/py_types.h"

/* Of the object itself, without what lies before it (seep_python_before()). */
uint64_t seep_python_bytes(struct seep_heap *heap, uint64_t object, const struct seep_pytype *type);

/* Of the memory that a list has for its items, a set for its table, an array for its elements if
 * they are its own, or a str for its characters if they lie elsewhere. */
uint64_t seep_python_memory_of(struct seep_heap *heap, uint64_t object,
                               const struct seep_pytype *type);

/* Of the memory that the word at `offset` in a bytearray or an array.array leads to. */
uint64_t seep_python_bytes_at(struct seep_heap *heap, uint64_t object,
                              const struct seep_pytype *type, int64_t offset);

/* Of a dict's table of keys. */
uint64_t seep_python_keys_bytes(struct seep_heap *heap, uint64_t keys);

#endif
