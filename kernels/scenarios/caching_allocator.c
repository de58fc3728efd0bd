#include "kernels/scenarios/caching_allocator.h"

#include "preload/seep.h"

#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

/* The seed document's constants (c10/cuda/CUDACachingAllocator.cpp calls them kMinBlockSize,
 * kSmallSize, kSmallBuffer, kLargeBuffer, kMinLargeAlloc and kRoundLarge). */
static const size_t least_block = 512, most_small = MIB, small_segment = 2 * MIB;
static const size_t shared_segment = 20 * MIB, least_own_segment = 10 * MIB, round_large = 2 * MIB;

/* What a report names: a frame of its own. */
#define SEEN __attribute__((noinline))

struct segment {
    uintptr_t address;
    size_t bytes;
    struct seep_caching_block *first;
    struct segment *next; /* in the allocator's list */
};

struct seep_caching_block {
    uintptr_t address;
    size_t bytes;
    struct segment *segment;
    struct seep_caching_block *before, *after; /* neighbours in the segment */
    unsigned pool;
    bool is_free;
};

enum { SMALL, LARGE, N_POOLS };

struct pool {
    struct seep_caching_block **free; /* by size, then by address */
    size_t n, capacity;
    size_t n_blocks; /* free or not */
    struct segment *expandable;
    struct seep_caching_block *last; /* of the expandable segment */
};

struct seep_caching_allocator {
    struct seep_caching_driver driver;
    bool expandable;
    const char *device_space, *tensor_space;
    struct pool pools[N_POOLS];
    struct segment *segments;
    struct seep_caching_counts counts;
};

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

static size_t segment_bytes(size_t bytes)
{
    if (bytes <= most_small)
        return small_segment;
    return bytes < least_own_segment ? shared_segment : round_up(bytes, round_large);
}

/* ---- the list of free blocks ----------------------------------------------------------------- */

static bool goes_before(const struct seep_caching_block *b, size_t bytes, uintptr_t address)
{
    return b->bytes < bytes || (b->bytes == bytes && b->address < address);
}

/* The first block that does not go before (bytes, address). */
static size_t find(const struct pool *pool, size_t bytes, uintptr_t address)
{
    size_t low = 0, high = pool->n;

    while (low < high) {
        size_t middle = (low + high) / 2;
        if (goes_before(pool->free[middle], bytes, address))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* Room for all blocks of the pool, and those that one request may add: giving back cannot fail. */
static bool make_room(struct pool *pool)
{
    size_t n = pool->n_blocks + 2;

    if (n <= pool->capacity)
        return true;
    size_t capacity = n + n / 2 + 64;
    void *list = realloc(pool->free, capacity * sizeof *pool->free);
    if (!list)
        return false;
    pool->free = list;
    pool->capacity = capacity;
    return true;
}

static void put(struct pool *pool, struct seep_caching_block *block)
{
    size_t at = find(pool, block->bytes, block->address);

    memmove(pool->free + at + 1, pool->free + at, (pool->n - at) * sizeof *pool->free);
    pool->free[at] = block;
    pool->n++;
    block->is_free = true;
}

static void take_out(struct pool *pool, struct seep_caching_block *block)
{
    size_t at = find(pool, block->bytes, block->address);

    pool->n--;
    memmove(pool->free + at, pool->free + at + 1, (pool->n - at) * sizeof *pool->free);
    block->is_free = false;
}

/* ---- segments ----------------------------------------------------------------------------------
 */

/* The line that a cache's growth shows on: what the driver gives. */
static SEEN int take_segment(struct seep_caching_allocator *a, size_t bytes,
                             struct segment *segment)
{
    int rc = a->driver.take(a->driver.context, bytes, &segment->address);

    a->counts.driver_calls++;
    if (rc)
        return rc;
    segment->bytes = bytes;
    seep_block_made(a->device_space, (void *)segment->address, bytes);
    a->counts.reserved_bytes += bytes;
    a->counts.n_segments++;
    return 0;
}

static void give_segment(struct seep_caching_allocator *a, struct segment *segment)
{
    struct segment **link = &a->segments;

    while (*link && *link != segment)
        link = &(*link)->next;
    if (*link)
        *link = segment->next;
    seep_block_gone(a->device_space, (void *)segment->address);
    a->driver.give(a->driver.context, segment->address, segment->bytes);
    a->counts.driver_calls++;
    a->counts.reserved_bytes -= segment->bytes;
    a->counts.n_segments--;
    free(segment);
}

static struct seep_caching_block *block_of_segment(struct seep_caching_allocator *a, size_t bytes,
                                                   unsigned pool)
{
    struct segment *segment = calloc(1, sizeof *segment);
    struct seep_caching_block *block = calloc(1, sizeof *block);

    if (!segment || !block || take_segment(a, bytes, segment)) {
        free(segment);
        free(block);
        return NULL;
    }
    segment->next = a->segments;
    a->segments = segment;
    *block = (struct seep_caching_block){
        .address = segment->address, .bytes = bytes, .segment = segment, .pool = pool};
    segment->first = block;
    a->pools[pool].n_blocks++;
    return block;
}

/* The pool's one segment gains what the request lacks; a free block at its end has a part of it. */
static SEEN struct seep_caching_block *grow_segment(struct seep_caching_allocator *a, size_t bytes,
                                                    unsigned which)
{
    struct pool *pool = &a->pools[which];
    struct segment *s = pool->expandable;
    bool extends = pool->last && pool->last->is_free;
    size_t more = round_up(bytes - (extends ? pool->last->bytes : 0),
                           which == SMALL ? small_segment : shared_segment);
    struct seep_caching_block *block = extends ? pool->last : calloc(1, sizeof *block);

    if (!s)
        s = calloc(1, sizeof *s);
    a->counts.driver_calls++;
    if (!s || !block || a->driver.grow(a->driver.context, s->bytes, s->bytes + more, &s->address)) {
        if (!pool->expandable)
            free(s);
        if (!extends)
            free(block);
        return NULL;
    }
    if (extends) {
        take_out(pool, block);
    } else {
        *block = (struct seep_caching_block){
            .address = s->address + s->bytes, .segment = s, .before = pool->last, .pool = which};
        if (pool->last)
            pool->last->after = block;
        pool->last = block;
        pool->n_blocks++;
    }
    block->bytes += more;
    s->bytes += more;
    a->counts.reserved_bytes += more;
    if (!pool->expandable) {
        s->first = block;
        s->next = a->segments;
        a->segments = pool->expandable = s;
        a->counts.n_segments++;
    }
    /* One block that has become larger, for whoever watches. */
    seep_block_made(a->device_space, (void *)s->address, s->bytes);
    return block;
}

/* ---- blocks ------------------------------------------------------------------------------------
 */

/* Cuts what is beyond `bytes` off where that is worth a block. */
static bool split(struct seep_caching_allocator *a, struct seep_caching_block *block, size_t bytes)
{
    struct pool *pool = &a->pools[block->pool];
    size_t rest = block->bytes - bytes;

    if (rest <= (block->pool == SMALL ? least_block : most_small))
        return true;
    struct seep_caching_block *other = calloc(1, sizeof *other);
    if (!other)
        return false;
    *other = (struct seep_caching_block){.address = block->address + bytes,
                                         .bytes = rest,
                                         .segment = block->segment,
                                         .before = block,
                                         .after = block->after,
                                         .pool = block->pool};
    if (block->after)
        block->after->before = other;
    if (pool->last == block)
        pool->last = other;
    block->after = other;
    block->bytes = bytes;
    pool->n_blocks++;
    put(pool, other);
    return true;
}

/* `second` lies behind `first`, and is no more. */
static void join(struct seep_caching_allocator *a, struct seep_caching_block *first,
                 struct seep_caching_block *second)
{
    first->bytes += second->bytes;
    first->after = second->after;
    if (second->after)
        second->after->before = first;
    if (a->pools[first->pool].last == second)
        a->pools[first->pool].last = first;
    a->pools[first->pool].n_blocks--;
    free(second);
}

static struct seep_caching_block *obtain(struct seep_caching_allocator *a, size_t bytes,
                                         unsigned which)
{
    struct pool *pool = &a->pools[which];
    size_t at = find(pool, bytes, 0);

    if (at < pool->n) {
        struct seep_caching_block *block = pool->free[at];
        take_out(pool, block);
        return block;
    }
    for (int attempt = 0; attempt < 2; attempt++) {
        struct seep_caching_block *block = a->expandable
                                               ? grow_segment(a, bytes, which)
                                               : block_of_segment(a, segment_bytes(bytes), which);
        if (block)
            return block;
        seep_caching_empty(a);
    }
    return NULL;
}

SEEN int seep_caching_alloc(struct seep_caching_allocator *a, size_t bytes,
                            struct seep_caching_block **out)
{
    if (bytes > SIZE_MAX / 2)
        return -SEEP_ENOMEM;
    bytes = round_up(bytes ? bytes : 1, least_block);
    unsigned which = bytes <= most_small ? SMALL : LARGE;
    struct pool *pool = &a->pools[which];
    if (!make_room(pool))
        return -SEEP_ENOMEM;
    struct seep_caching_block *block = obtain(a, bytes, which);
    if (!block)
        return -SEEP_ENOMEM;
    if (!split(a, block, bytes)) {
        put(pool, block);
        return -SEEP_ENOMEM;
    }
    a->counts.live_bytes += block->bytes;
    if (a->counts.live_bytes > a->counts.peak_bytes)
        a->counts.peak_bytes = a->counts.live_bytes;
    seep_block_made(a->tensor_space, (void *)block->address, block->bytes);
    *out = block;
    return 0;
}

void seep_caching_free(struct seep_caching_allocator *a, struct seep_caching_block *block)
{
    struct pool *pool = &a->pools[block->pool];

    seep_block_gone(a->tensor_space, (void *)block->address);
    a->counts.live_bytes -= block->bytes;
    if (block->after && block->after->is_free) {
        take_out(pool, block->after);
        join(a, block, block->after);
    }
    if (block->before && block->before->is_free) {
        struct seep_caching_block *before = block->before;
        take_out(pool, before);
        join(a, before, block);
        block = before;
    }
    put(pool, block);
}

uintptr_t seep_caching_address(const struct seep_caching_block *block)
{
    return block->address;
}

size_t seep_caching_bytes(const struct seep_caching_block *block)
{
    return block->bytes;
}

void seep_caching_empty(struct seep_caching_allocator *a)
{
    for (int p = 0; p < N_POOLS && !a->expandable; p++) {
        struct pool *pool = &a->pools[p];
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
}

/* ---- the allocator
 * ------------------------------------------------------------------------------- */

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
            if (!block->is_free)
                seep_block_gone(a->tensor_space, (void *)block->address);
            free(block);
        }
        give_segment(a, a->segments);
    }
    for (int p = 0; p < N_POOLS; p++)
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
