#include "libprof/who/graph/pymalloc.h"

#include <string.h>

/* struct pool_header of Objects/obmalloc.c; objects follow it, and are multiples of 16 bytes. */
enum {
    HEAD = SEEP_POOL_HEAD,
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

static uint32_t field(const uint8_t *head, size_t offset)
{
    uint32_t value;

    memcpy(&value, head + offset, sizeof value);
    return value;
}

/* False: it does not look like one. */
static bool parse_pool(const uint8_t *head, uint64_t start, uint32_t bytes, struct pool *pool)
{
    const uint32_t class = field(head, CLASS);

    pool->start = start;
    pool->bytes = bytes;
    pool->count = field(head, COUNT);
    if (!pool->count)
        return true;
    pool->each = (class + 1) * ALIGNMENT;
    pool->arena = field(head, ARENA);
    pool->next = field(head, NEXT);
    return class < CLASSES && pool->count <= (bytes - HEAD) / pool->each &&
           field(head, LAST) == bytes - pool->each && pool->next >= HEAD &&
           pool->next <= bytes + pool->each;
}

static bool read_pool(struct seep_memory *memory, uint64_t start, uint32_t bytes, struct pool *pool)
{
    uint8_t head[HEAD];

    (void)seep_memory_read(memory, start, head, sizeof head);
    return parse_pool(head, start, bytes, pool);
}

bool seep_pymalloc_is_pool(const uint8_t *head, uint64_t at, uint32_t pool_bytes)
{
    struct pool pool;
    uint64_t free;

    memcpy(&free, head + FREE, sizeof free);
    return parse_pool(head, at, pool_bytes, &pool) && pool.count &&
           (!free || (free >= at + HEAD && free < at + pool_bytes));
}

bool seep_pymalloc_is_free_pool(const uint8_t *head, uint32_t pool_bytes)
{
    const uint32_t class = field(head, CLASS), each = (class + 1) * ALIGNMENT;

    return !field(head, COUNT) && class < CLASSES && field(head, LAST) == pool_bytes - each &&
           field(head, NEXT) >= HEAD && field(head, NEXT) <= pool_bytes + each;
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

bool seep_pymalloc_is_arena(struct seep_memory *memory, const struct seep_python_layout *layout,
                            const struct seep_snapshot_block *map)
{
    enum { ENOUGH = 4 };
    const uint64_t step = layout->pool_bytes, few = ENOUGH * layout->arena_bytes;
    /* Each arena has a pool in use. Other maps may be huge: a database's has room for all it may
     * ever hold. */
    const uint64_t end = map->start + (map->bytes < few ? map->bytes : few);
    uint32_t arena = 0;
    int n = 0;

    if (map->bytes % layout->arena_bytes)
        return false;
    for (uint64_t at = (map->start + step - 1) / step * step; at + step <= end && n < ENOUGH;
         at += step) {
        struct pool pool;
        if (!read_pool(memory, at, (uint32_t)step, &pool))
            return false;
        if (!pool.count)
            continue;
        if (map->bytes == layout->arena_bytes && n && pool.arena != arena)
            return false;
        arena = pool.arena;
        n++;
    }
    return n > 0;
}

size_t seep_pymalloc_pool_objects(struct seep_memory *memory, uint64_t at, uint32_t pool_bytes,
                                  uint32_t site, struct seep_snapshot_block *blocks)
{
    struct pool pool;

    if (!read_pool(memory, at, pool_bytes, &pool) || !pool.count)
        return 0;
    mark_free(memory, &pool);
    return take_objects(&pool, site, blocks, pool_bytes / ALIGNMENT);
}
