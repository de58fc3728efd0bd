#include "libprof/who/graph/pymalloc.h"

#include <string.h>

/* struct pool_header of Objects/obmalloc.c; objects follow it, and are multiples of 16 bytes. */
enum {
    HEAD = 48,
    COUNT = 0,
    FREE = 8,
    ARENA = 32,
    CLASS = 36,
    NEXT = 40,
    LAST = 44,
    CLASSES = 32,
    ALIGNMENT = 16,
    MAX_POOL = 16384,
};

struct pool {
    uint64_t start;
    uint32_t bytes, count, arena, each, next;
    uint8_t is_free[MAX_POOL / ALIGNMENT];
};

/* False: it does not look like one. */
static bool read_pool(struct seep_memory *memory, uint64_t start, uint32_t bytes, struct pool *pool)
{
    uint32_t class = seep_memory_u32(memory, start + CLASS);

    pool->start = start;
    pool->bytes = bytes;
    pool->count = seep_memory_u32(memory, start + COUNT);
    if (!pool->count)
        return true;
    pool->each = (class + 1) * ALIGNMENT;
    pool->arena = seep_memory_u32(memory, start + ARENA);
    pool->next = seep_memory_u32(memory, start + NEXT);
    return class < CLASSES && pool->count <= (bytes - HEAD) / pool->each &&
           seep_memory_u32(memory, start + LAST) == bytes - pool->each && pool->next >= HEAD &&
           pool->next <= bytes + pool->each;
}

static void mark_free(struct seep_memory *memory, struct pool *pool)
{
    memset(pool->is_free, 0, sizeof pool->is_free);
    for (uint64_t at = seep_memory_word(memory, pool->start + FREE);
         at >= pool->start + HEAD && at < pool->start + pool->bytes;
         at = seep_memory_word(memory, at)) {
        uint32_t i = (uint32_t)(at - pool->start - HEAD) / pool->each;
        if (pool->is_free[i])
            return;
        pool->is_free[i] = 1;
    }
}

static size_t take_objects(const struct pool *pool, uint32_t site,
                           struct seep_snapshot_block *blocks, size_t capacity)
{
    size_t n = 0;

    for (uint32_t i = 0; n < pool->count && n < capacity; i++) {
        uint32_t at = HEAD + i * pool->each;
        if (at + pool->each > pool->bytes || at >= pool->next)
            break;
        if (!pool->is_free[i])
            blocks[n++] = (struct seep_snapshot_block){
                .start = pool->start + at, .bytes = pool->each, .site = site};
    }
    return n;
}

size_t seep_pymalloc_objects(struct seep_memory *memory, const struct seep_python_layout *layout,
                             const struct seep_snapshot_block *map,
                             struct seep_snapshot_block *blocks, size_t capacity)
{
    uint64_t step = layout->pool_bytes, end = map->start + map->bytes;
    struct pool pool;
    uint32_t arena = 0;
    size_t n = 0;

    if (map->bytes % layout->arena_bytes)
        return 0;
    for (uint64_t at = (map->start + step - 1) / step * step; at + step <= end; at += step) {
        if (!read_pool(memory, at, (uint32_t)step, &pool))
            return 0;
        if (!pool.count)
            continue;
        if (map->bytes == layout->arena_bytes && n && pool.arena != arena)
            return 0;
        arena = pool.arena;
        if (blocks) {
            mark_free(memory, &pool);
            n += take_objects(&pool, map->site, blocks + n, capacity - n);
        } else {
            n += pool.count;
        }
    }
    return n;
}
