/* Memory that is held only by an address inside it. Rust's hash tables are known by the end of
 * their buckets, and handles by a Python int, so no address of the block's start exists. Addresses
 * inside blocks are searched for only if most of a line's memory would otherwise be called lost,
 * and only in that memory: elsewhere, plain numbers would be mistaken for them. */
#ifndef SEEP_LIBPROF_WHO_WAYS_INNER_H
#define SEEP_LIBPROF_WHO_WAYS_INNER_H

#include "libprof/who/ways/reach.h"

/* Adds the paths to memory that nothing else holds, cycles included, to a reach that has run: any
 * word of reached memory that is an address inside it counts. An address just past the end does
 * not. Reads all native blocks, and notes in the heap if that was too much. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_inner_find(struct seep_reach *reach);

#endif
