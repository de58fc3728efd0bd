/* What is live in a process that nobody recorded: blocks as its allocators' own structures tell
 * them. A list that grows, no further than it may. */
#ifndef SEEP_LIBPROF_WHO_BLOCKS_BLOCK_LIST_H
#define SEEP_LIBPROF_WHO_BLOCKS_BLOCK_LIST_H

#include "libprof/base/error.h"
#include "libprof/format/snapshot_format.h"

#include <stdbool.h>
#include <stddef.h>

/* What a block is, in its `site`. */
enum seep_block_kind {
    SEEP_BLOCK_CHUNK = 1, /* of malloc */
    SEEP_BLOCK_OBJECT,    /* of Python's allocator of small objects */
    SEEP_BLOCK_POOLS,     /* pools of it, side by side, before they are read */
    SEEP_BLOCK_MAP,       /* mapped memory of which nothing more is known */
    SEEP_BLOCK_SHARED,    /* shared memory */
};

struct seep_block_list {
    struct seep_snapshot_block *list;
    size_t n, capacity, most;
    bool full; /* there are more than `most`, */
    bool no_memory;
};

/* Adds one where there is room; `full` and `no_memory` say where not. */
void seep_block_add(struct seep_block_list *blocks, enum seep_block_kind kind, uint64_t start,
                    uint64_t bytes);

/* By address. */
void seep_block_sort(struct seep_block_list *blocks);
void seep_block_list_fini(struct seep_block_list *blocks);

#endif
