#include "kernels/lab/scenarios/caching_pools.h"

#include <stdlib.h>
#include <string.h>

size_t seep_pool_round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) / to * to;
}

/* ---- the list of free blocks ----------------------------------------------------------------- */

static bool goes_before(const struct seep_caching_block *b, size_t bytes, uintptr_t address)
{
    return b->bytes < bytes || (b->bytes == bytes && b->address < address);
}

size_t seep_pool_find(const struct seep_pool *pool, size_t bytes, uintptr_t address)
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

bool seep_pool_make_room(struct seep_pool *pool)
{
    size_t n = pool->n_blocks + 4;

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

void seep_pool_put(struct seep_pool *pool, struct seep_caching_block *block)
{
    size_t at = seep_pool_find(pool, block->bytes, block->address);

    memmove(pool->free + at + 1, pool->free + at, (pool->n - at) * sizeof *pool->free);
    pool->free[at] = block;
    pool->n++;
    block->state = SEEP_BLOCK_FREE;
}

void seep_pool_take_out(struct seep_pool *pool, struct seep_caching_block *block)
{
    size_t at = seep_pool_find(pool, block->bytes, block->address);

    pool->n--;
    memmove(pool->free + at, pool->free + at + 1, (pool->n - at) * sizeof *pool->free);
    block->state = SEEP_BLOCK_OUT;
}

bool seep_block_is_free(const struct seep_caching_block *block)
{
    return block && block->state == SEEP_BLOCK_FREE;
}

bool seep_block_is_hole(const struct seep_caching_block *block)
{
    return block && block->state == SEEP_BLOCK_HOLE;
}

struct seep_caching_block *seep_block_cut(struct seep_caching_allocator *a,
                                          struct seep_caching_block *block, size_t bytes)
{
    struct seep_pool *pool = &a->pools[block->pool];
    struct seep_caching_block *other = calloc(1, sizeof *other);

    if (!other)
        return NULL;
    *other = *block;
    other->address += bytes;
    other->bytes -= bytes;
    other->before = block;
    if (block->after)
        block->after->before = other;
    if (pool->last == block)
        pool->last = other;
    block->after = other;
    block->bytes = bytes;
    pool->n_blocks++;
    return other;
}

void seep_block_join(struct seep_caching_allocator *a, struct seep_caching_block *first,
                     struct seep_caching_block *second)
{
    struct seep_pool *pool = &a->pools[first->pool];

    first->bytes += second->bytes;
    first->after = second->after;
    if (second->after)
        second->after->before = first;
    if (pool->last == second)
        pool->last = first;
    pool->n_blocks--;
    free(second);
}

struct seep_caching_block *seep_block_join_free(struct seep_caching_allocator *a,
                                                struct seep_caching_block *block)
{
    struct seep_pool *pool = &a->pools[block->pool];

    if (seep_block_is_free(block->after)) {
        seep_pool_take_out(pool, block->after);
        seep_block_join(a, block, block->after);
    }
    if (seep_block_is_free(block->before)) {
        struct seep_caching_block *before = block->before;
        seep_pool_take_out(pool, before);
        seep_block_join(a, before, block);
        block = before;
    }
    return block;
}
