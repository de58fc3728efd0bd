#include "libprof/who/find/reading_need.h"

#include "libprof/who/graph/pymalloc.h"

#include <string.h>

/* Measured (tests/e2e/test_reader_memory.py): up to 120 bytes a node, and 8 MiB without any. */
enum {
    BYTES_A_NODE = 136,
    FIXED_BYTES = 12 << 20,
    MOST_POOLS = 8192, /* that are looked at while the process may stand still: 10 ms */
};

uint64_t seep_reading_need(uint64_t n_nodes, uint64_t kept_bytes)
{
    const uint64_t most = UINT64_C(1) << 46; /* no machine has more, and no sum overflows */

    if (n_nodes > most / BYTES_A_NODE || kept_bytes > most)
        return most;
    return FIXED_BYTES + n_nodes * BYTES_A_NODE + kept_bytes;
}

static bool may_be_arena(const struct seep_python_layout *layout,
                         const struct seep_snapshot_block *map)
{
    return layout && layout->pool_bytes && layout->arena_bytes && map->bytes &&
           !(map->start >> 47) && !(map->bytes >> 46) && map->bytes % layout->arena_bytes == 0;
}

/* The objects of `n` pools, from `at` on and so far apart. A pool that cannot be read has none. */
static uint64_t count_pools(struct seep_remote *remote, uint32_t pool_bytes, uint64_t at,
                            uint64_t apart, size_t n)
{
    uint8_t heads[SEEP_MEMORY_PIECES][SEEP_POOL_HEAD];
    struct seep_memory_piece pieces[SEEP_MEMORY_PIECES] = {{0}};
    uint64_t objects = 0;

    memset(heads, 0, sizeof heads);
    for (size_t i = 0; i < n; i++)
        pieces[i] = (struct seep_memory_piece){at + i * apart, heads[i], SEEP_POOL_HEAD};
    (void)remote->gather(remote, pieces, n);
    for (size_t i = 0; i < n; i++)
        objects += seep_pymalloc_pool_count(heads[i], pieces[i].address, pool_bytes);
    return objects;
}

/* Looks at one pool in `share`. 0: it is no arena. */
static uint64_t count_arena(struct seep_remote *remote, uint32_t pool_bytes,
                            const struct seep_snapshot_block *map, uint64_t share)
{
    const uint64_t end = map->start + map->bytes, apart = pool_bytes * share;
    uint64_t objects = 0;

    for (uint64_t at = (map->start + pool_bytes - 1) / pool_bytes * pool_bytes;
         at + pool_bytes <= end;) {
        const uint64_t left = (end - at - pool_bytes) / apart + 1;
        const size_t n = left < SEEP_MEMORY_PIECES ? (size_t)left : SEEP_MEMORY_PIECES;
        objects += count_pools(remote, pool_bytes, at, apart, n) * share;
        at += n * apart;
    }
    return objects;
}

uint64_t seep_reading_count(struct seep_remote *remote, const struct seep_python_layout *layout,
                            const struct seep_snapshot_block *maps, size_t n_maps)
{
    uint64_t nodes = 0, n_pools = 0;

    for (size_t i = 0; i < n_maps; i++)
        n_pools += may_be_arena(layout, &maps[i]) ? maps[i].bytes / layout->pool_bytes : 0;
    const uint64_t share = 1 + n_pools / MOST_POOLS;
    for (size_t i = 0; i < n_maps; i++) {
        const uint64_t objects =
            may_be_arena(layout, &maps[i])
                ? count_arena(remote, (uint32_t)layout->pool_bytes, &maps[i], share)
                : 0;
        nodes += objects ? objects : 1;
    }
    return nodes;
}
