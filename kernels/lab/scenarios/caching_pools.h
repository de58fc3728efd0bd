/* What the allocator is made of: segments, cut into blocks, and the pools that list the free ones.
 * Private to caching_*.c. */
#ifndef SEEP_KERNELS_CACHING_POOLS_H
#define SEEP_KERNELS_CACHING_POOLS_H

#include "kernels/lab/scenarios/caching_types.h"
#include "libprof/base/error.h"

#include <stdbool.h>

struct seep_segment {
    uintptr_t address;
    size_t bytes;  /* from its first block to its last */
    size_t mapped; /* of these; an expandable segment has holes */
    struct seep_caching_block *first;
    struct seep_segment *next; /* in the allocator's list */
};

/* A hole has no memory: of an expandable segment. */
enum seep_block_state { SEEP_BLOCK_OUT, SEEP_BLOCK_FREE, SEEP_BLOCK_HOLE };

struct seep_caching_block {
    uintptr_t address;
    size_t bytes;
    struct seep_segment *segment;
    struct seep_caching_block *before, *after; /* neighbours in the segment */
    unsigned pool;
    enum seep_block_state state;
};

enum { SEEP_POOL_SMALL, SEEP_POOL_LARGE, SEEP_POOLS };

struct seep_pool {
    struct seep_caching_block **free; /* by size, then by address */
    size_t n, capacity;
    size_t n_blocks; /* free or not, holes too */
    struct seep_segment *expandable;
    struct seep_caching_block *last; /* of the expandable segment */
};

struct seep_caching_allocator {
    struct seep_caching_driver driver;
    bool expandable;
    const char *device_space, *tensor_space;
    struct seep_pool pools[SEEP_POOLS];
    struct seep_segment *segments;
    struct seep_caching_counts counts;
};

/* Up to a multiple of `to`. */
size_t seep_pool_round_up(size_t bytes, size_t to);

/* ---- the list of free blocks ----------------------------------------------------------------- */

/* Index of the first free block that is not before (bytes, address). */
size_t seep_pool_find(const struct seep_pool *pool, size_t bytes, uintptr_t address);

/* Room for all blocks of the pool, and those that one request or hole may add: giving back cannot
 * fail then. False without memory. */
bool seep_pool_make_room(struct seep_pool *pool);
void seep_pool_put(struct seep_pool *pool, struct seep_caching_block *block);
void seep_pool_take_out(struct seep_pool *pool, struct seep_caching_block *block);

/* ---- blocks ---------------------------------------------------------------------------------- */

/* False for NULL. */
bool seep_block_is_free(const struct seep_caching_block *block);
bool seep_block_is_hole(const struct seep_caching_block *block);

/* What lies beyond `bytes` becomes a block of its own after it, in the same state; NULL without
 * memory. */
struct seep_caching_block *seep_block_cut(struct seep_caching_allocator *a,
                                          struct seep_caching_block *block, size_t bytes);

/* Joins `second`, which follows `first`, to it. */
void seep_block_join(struct seep_caching_allocator *a, struct seep_caching_block *first,
                     struct seep_caching_block *second);

/* The block, with free neighbours taken out of the list and joined to it. */
struct seep_caching_block *seep_block_join_free(struct seep_caching_allocator *a,
                                                struct seep_caching_block *block);

/* ---- expandable segments (caching_expandable.c) ---------------------------------------------- */

/* The pool's one segment gains the pages that the request lacks: a block of at least that. 0,
 * -SEEP_ENOMEM, what the driver failed with. */
SEEP_MUST_CHECK int seep_expandable_grow(struct seep_caching_allocator *a, size_t bytes,
                                         unsigned which, struct seep_caching_block **out);

/* Gives back all pages without a block that is out. */
void seep_expandable_empty(struct seep_caching_allocator *a, struct seep_pool *pool);

#endif
