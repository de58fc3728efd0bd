#include "kernels/lab/scenarios/caching_allocator.h"

#include "kernels/lab/scenarios/caching_pools.h"
#include "preload/seep.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

/* The seed document's constants (c10/cuda/CUDACachingAllocator.cpp calls them kMinBlockSize,
 * kSmallSize, kSmallBuffer, kLargeBuffer, kMinLargeAlloc and kRoundLarge). */
static const size_t least_block = 512, most_small = MIB, small_segment = 2 * MIB;
static const size_t shared_segment = 20 * MIB, least_own_segment = 10 * MIB, round_large = 2 * MIB;

/* Reports name these functions, so each has a frame of its own. */
#define SEEN __attribute__((noinline))

static size_t segment_bytes(size_t bytes)
{
    if (bytes <= most_small)
        return small_segment;
    return bytes < least_own_segment ? shared_segment : seep_pool_round_up(bytes, round_large);
}

/* ---- segments ----------------------------------------------------------------------------------
 */

/* Takes a segment from the driver: the line to which a report attributes a growing cache. */
static SEEN int take_segment(struct seep_caching_allocator *a, size_t bytes,
                             struct seep_segment *segment)
{
    int rc = a->driver.take(a->driver.context, bytes, &segment->address);

    a->counts.driver_calls++;
    if (rc)
        return rc;
    segment->bytes = segment->mapped = bytes;
    if (a->device_space)
        seep_block_made(a->device_space, (void *)segment->address, bytes);
    a->counts.reserved_bytes += bytes;
    a->counts.n_segments++;
    return 0;
}

static void give_segment(struct seep_caching_allocator *a, struct seep_segment *segment)
{
    struct seep_segment **link = &a->segments;

    while (*link && *link != segment)
        link = &(*link)->next;
    if (*link)
        *link = segment->next;
    if (segment->mapped) {
        if (a->device_space)
            seep_block_gone(a->device_space, (void *)segment->address);
        a->driver.give(a->driver.context, segment->address, segment->mapped);
        a->counts.driver_calls++;
    }
    a->counts.reserved_bytes -= segment->mapped;
    a->counts.n_segments--;
    free(segment);
}

static int block_of_segment(struct seep_caching_allocator *a, size_t bytes, unsigned pool,
                            struct seep_caching_block **out)
{
    struct seep_segment *segment = calloc(1, sizeof *segment);
    struct seep_caching_block *block = calloc(1, sizeof *block);
    int rc = segment && block ? take_segment(a, bytes, segment) : -SEEP_ENOMEM;

    if (rc) {
        free(segment);
        free(block);
        return rc;
    }
    segment->next = a->segments;
    a->segments = segment;
    *block = (struct seep_caching_block){
        .address = segment->address, .bytes = bytes, .segment = segment, .pool = pool};
    segment->first = block;
    a->pools[pool].n_blocks++;
    *out = block;
    return 0;
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* Cuts off what exceeds `bytes`, where that is worth a block. */
static bool split(struct seep_caching_allocator *a, struct seep_caching_block *block, size_t bytes)
{
    size_t rest = block->bytes - bytes;
    bool is_worth =
        a->expandable || block->pool == SEEP_POOL_SMALL ? rest >= least_block : rest > most_small;

    if (!is_worth)
        return true;
    struct seep_caching_block *other = seep_block_cut(a, block, bytes);
    if (other)
        seep_pool_put(&a->pools[block->pool], other);
    return other != NULL;
}

static int obtain(struct seep_caching_allocator *a, size_t bytes, unsigned which,
                  struct seep_caching_block **out)
{
    struct seep_pool *pool = &a->pools[which];
    size_t at = seep_pool_find(pool, bytes, 0);
    int rc = -SEEP_ENOMEM;

    if (at < pool->n) {
        *out = pool->free[at];
        seep_pool_take_out(pool, *out);
        return 0;
    }
    /* A full device may have room once the cache is emptied; any other failure is final. */
    for (int attempt = 0; attempt < 2 && rc == -SEEP_ENOMEM; attempt++) {
        if (attempt)
            seep_caching_empty(a);
        rc = a->expandable ? seep_expandable_grow(a, bytes, which, out)
                           : block_of_segment(a, segment_bytes(bytes), which, out);
    }
    return rc;
}

/* Neither the pool nor the driver has room for it: torch.OutOfMemoryError, which names the segment
 * that would have been needed. */
static SEEN void out_of_memory(struct seep_caching_allocator *a, size_t bytes)
{
    a->counts.refused.bytes = bytes;
    a->counts.refused.live_bytes = a->counts.live_bytes;
    a->counts.refused.reserved_bytes = a->counts.reserved_bytes;
    if (a->tensor_space)
        seep_block_refused(a->tensor_space, bytes);
}

SEEN int seep_caching_alloc(struct seep_caching_allocator *a, size_t bytes,
                            struct seep_caching_block **out)
{
    if (bytes > SIZE_MAX / 2)
        return -SEEP_ENOMEM;
    bytes = seep_pool_round_up(bytes ? bytes : 1, least_block);
    unsigned which = bytes <= most_small ? SEEP_POOL_SMALL : SEEP_POOL_LARGE;
    struct seep_pool *pool = &a->pools[which];
    if (!seep_pool_make_room(pool))
        return -SEEP_ENOMEM;
    struct seep_caching_block *block;
    int rc = obtain(a, bytes, which, &block);
    if (rc == -SEEP_ENOMEM)
        out_of_memory(a, segment_bytes(bytes));
    if (rc)
        return rc;
    if (!split(a, block, bytes)) {
        seep_pool_put(pool, block);
        return -SEEP_ENOMEM;
    }
    a->counts.live_bytes += block->bytes;
    if (a->counts.live_bytes > a->counts.peak_bytes)
        a->counts.peak_bytes = a->counts.live_bytes;
    if (a->tensor_space)
        seep_block_made(a->tensor_space, (void *)block->address, block->bytes);
    *out = block;
    return 0;
}

void seep_caching_free(struct seep_caching_allocator *a, struct seep_caching_block *block)
{
    struct seep_pool *pool = &a->pools[block->pool];

    if (a->tensor_space)
        seep_block_gone(a->tensor_space, (void *)block->address);
    a->counts.live_bytes -= block->bytes;
    seep_pool_put(pool, seep_block_join_free(a, block));
}

uintptr_t seep_caching_address(const struct seep_caching_block *block)
{
    return block->address;
}

size_t seep_caching_bytes(const struct seep_caching_block *block)
{
    return block->bytes;
}

static void empty_pool(struct seep_caching_allocator *a, struct seep_pool *pool)
{
    size_t kept = 0;

    for (size_t i = 0; i < pool->n; i++) {
        struct seep_caching_block *block = pool->free[i];
        if (block->before || block->after) {
            pool->free[kept++] = block;
            continue;
        }
        give_segment(a, block->segment);
        free(block);
        pool->n_blocks--;
    }
    pool->n = kept;
}

void seep_caching_empty(struct seep_caching_allocator *a)
{
    for (int p = 0; p < SEEP_POOLS; p++)
        (a->expandable ? seep_expandable_empty : empty_pool)(a, &a->pools[p]);
}

/* ---- the allocator --------------------------------------------------------------------------- */

int seep_caching_create(const struct seep_caching_driver *driver, bool expandable,
                        const char *device_space, const char *tensor_space,
                        struct seep_caching_allocator **out)
{
    if (expandable && !driver->grow)
        return -SEEP_EINVAL;
    struct seep_caching_allocator *a = calloc(1, sizeof *a);
    if (!a)
        return -SEEP_ENOMEM;
    a->driver = *driver;
    a->expandable = expandable;
    a->device_space = device_space;
    a->tensor_space = tensor_space;
    *out = a;
    return 0;
}

void seep_caching_destroy(struct seep_caching_allocator *a)
{
    if (!a)
        return;
    while (a->segments) {
        struct seep_caching_block *block = a->segments->first, *after;
        for (; block; block = after) {
            after = block->after;
            if (block->state == SEEP_BLOCK_OUT && a->tensor_space)
                seep_block_gone(a->tensor_space, (void *)block->address);
            free(block);
        }
        give_segment(a, a->segments);
    }
    for (int p = 0; p < SEEP_POOLS; p++)
        free(a->pools[p].free);
    free(a);
}

struct seep_caching_counts seep_caching_counts(const struct seep_caching_allocator *a)
{
    return a->counts;
}

void seep_caching_reset_peak(struct seep_caching_allocator *a)
{
    a->counts.peak_bytes = a->counts.live_bytes;
}
