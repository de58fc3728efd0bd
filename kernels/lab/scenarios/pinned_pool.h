/* Pinned host memory behind PyTorch's cache of it: sizes are rounded up to powers of two, the
 * smallest free block that is large enough serves, and nothing goes back before the end. Its blocks
 * are blocks of "pinned". Threads: any. */
#ifndef SEEP_KERNELS_PINNED_POOL_H
#define SEEP_KERNELS_PINNED_POOL_H

#include "libprof/base/error.h"

#include <stddef.h>

struct seep_pinned_pool;

/* 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_pinned_pool_create(struct seep_pinned_pool **out);
void seep_pinned_pool_destroy(struct seep_pinned_pool *pool); /* NULL: nothing */

/* A block of at least n bytes, page aligned; NULL without memory. */
void *seep_pinned_take(struct seep_pinned_pool *pool, size_t n);
void seep_pinned_give(struct seep_pinned_pool *pool, void *block); /* NULL: nothing */

struct seep_pinned_counts {
    size_t reserved_bytes;   /* of all blocks; it never falls */
    size_t peak_asked_bytes; /* the most that was asked for at once */
    size_t most_blocks_out;
};
struct seep_pinned_counts seep_pinned_pool_counts(struct seep_pinned_pool *pool);

#endif
