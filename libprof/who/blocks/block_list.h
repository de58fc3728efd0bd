/* What is live in a process that seep did not record: blocks, as its allocators' own structures
 * show them. The list grows up to a limit. */
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
    SEEP_BLOCK_POOLS,     /* adjacent pools of it, before they are read */
    SEEP_BLOCK_MAP,       /* mapped memory about which nothing more is known */
    SEEP_BLOCK_SHARED,    /* shared memory */
    SEEP_BLOCK_TYPED,     /* of another malloc, as large as its type says */
};

struct seep_block_list {
    struct seep_snapshot_block *list;
    size_t n, capacity, most;
    bool full; /* there are more blocks than `most`, */
    bool no_memory;
    uint64_t free_bytes; /* between malloc's chunks that are in use, of its heaps */
};

/* Adds one if there is room; `full` and `no_memory` say if there was none. */
void seep_block_add(struct seep_block_list *blocks, enum seep_block_kind kind, uint64_t start,
                    uint64_t bytes);

/* By address. */
void seep_block_sort(struct seep_block_list *blocks);

/* The place of the block that begins there, of list[n] by address; `n`: there is none. */
size_t seep_block_find(const struct seep_snapshot_block *list, size_t n, uint64_t start);

/* Joins adjacent blocks of a kind, of a sorted list, until each has at least `bytes`. */
void seep_blocks_join(struct seep_block_list *blocks, enum seep_block_kind kind, uint64_t bytes);
void seep_block_list_fini(struct seep_block_list *blocks);

#endif
