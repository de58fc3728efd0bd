/* What it takes to find who holds the memory of a process: the one place that knows it. */
#ifndef SEEP_LIBPROF_WHO_FIND_READING_NEED_H
#define SEEP_LIBPROF_WHO_FIND_READING_NEED_H

#include "libprof/format/snapshot_format.h"
#include "libprof/who/find/remote.h"
#include "libprof/who/graph/py_layout.h"

/* Bytes that the reader of a process has at most: for `n_nodes` blocks, and objects that have a node
 * (who/graph/cells.h), and what it keeps: pages of the process, and its profile. */
uint64_t seep_reading_need(uint64_t n_nodes, uint64_t kept_bytes);

/* How many nodes the maps are: the objects in those that are Python's arenas, by the heads of their
 * pools alone (a sample of them, if there are many), and one for each other map. `layout`: NULL
 * without Python. */
uint64_t seep_reading_count(struct seep_remote *remote, const struct seep_python_layout *layout,
                            const struct seep_snapshot_block *maps, size_t n_maps);

#endif
