/* The objects in arenas of Python's small-object allocator; to everybody else these are maps. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PYMALLOC_H
#define SEEP_LIBPROF_WHO_GRAPH_PYMALLOC_H

#include "libprof/format/snapshot_format.h"
#include "libprof/who/graph/memory.h"
#include "libprof/who/graph/py_layout.h"

/* Whether a map is an arena, by its first few pools in use. Numbers may look like a pool; but not
 * like some of them, one behind the other. */
bool seep_pymalloc_is_arena(struct seep_memory *memory, const struct seep_python_layout *layout,
                            const struct seep_snapshot_block *map);

/* Whether `head` looks like the first SEEP_POOL_HEAD bytes of a pool in use, which lies at `at`. */
enum { SEEP_POOL_HEAD = 48 };
bool seep_pymalloc_is_pool(const uint8_t *head, uint64_t at, uint32_t pool_bytes);

/* Whether it was one, and waits to be used again: there is nothing in it. */
bool seep_pymalloc_is_free_pool(const uint8_t *head, uint32_t pool_bytes);

/* Stores the objects of the pool at `at`, at most pool_bytes / 16 of them. */
size_t seep_pymalloc_pool_objects(struct seep_memory *memory, uint64_t at, uint32_t pool_bytes,
                                  uint32_t site, struct seep_snapshot_block *blocks);

#endif
