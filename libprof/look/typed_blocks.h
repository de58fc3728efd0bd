/* What is live in a process whose malloc does not show its blocks: objects, found by following
 * references, with the sizes that their types give them. Blocks of C and C++ libraries are missing,
 * but for those that lead from a tensor to its elements. */
#ifndef SEEP_LIBPROF_LOOK_TYPED_BLOCKS_H
#define SEEP_LIBPROF_LOOK_TYPED_BLOCKS_H

#include "libprof/who/blocks/block_list.h"
#include "libprof/who/find/dump.h"
#include "libprof/who/graph/cells.h"
#include "libprof/who/graph/py_layout.h"

/* Puts what is found in the place of the maps about which nothing more is known. `pools`: where
 * objects of Python's own allocator are; they are not read yet, and stay so. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_typed_blocks_find(struct seep_block_list *blocks,
                                           const struct seep_cells *pools, struct seep_dump *dump,
                                           const struct seep_python *python);

#endif
