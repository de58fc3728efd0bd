/* What it takes to find who holds the memory of a process: the one place that knows it. */
#ifndef SEEP_LIBPROF_WHO_FIND_READING_NEED_H
#define SEEP_LIBPROF_WHO_FIND_READING_NEED_H

#include <stdint.h>

/* Bytes that the reader of a process has at most: for `n_nodes` blocks, and objects that have a
 * node (who/graph/cells.h), and what it keeps: pages of the process, and its profile. */
uint64_t seep_reading_need(uint64_t n_nodes, uint64_t kept_bytes);

#endif
