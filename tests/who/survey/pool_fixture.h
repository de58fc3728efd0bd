/* Made-up pools of Python's small objects, in the second half of a made-up heap. */
#ifndef SEEP_TESTS_POOL_FIXTURE_H
#define SEEP_TESTS_POOL_FIXTURE_H

#include "tests/who/ways/heap_fixture.h"

enum { CELL = 64, MAX_POOLS = 8, POOL_HEAD = 48 };

static uint64_t pools[MAX_POOLS];
static size_t n_pools, n_in_pool;

/* A cell of a pool whose cells have this many bytes. */
static inline uint64_t new_cell(void)
{
    const uint32_t pool_bytes = layout_of_fixture()->pool_bytes;

    if (!n_pools || POOL_HEAD + (n_in_pool + 1) * CELL > pool_bytes) {
        ck_assert_uint_lt(n_pools, MAX_POOLS);
        pools[n_pools] = HEAP_AT + HEAP_BYTES / 2 + n_pools * pool_bytes;
        n_pools++;
        n_in_pool = 0;
    }
    const uint64_t pool = pools[n_pools - 1], cell = pool + POOL_HEAD + n_in_pool++ * CELL;
    put32(pool, (uint32_t)n_in_pool);
    put32(pool + 36, CELL / 16 - 1);                            /* its class */
    put32(pool + 40, (uint32_t)(POOL_HEAD + n_in_pool * CELL)); /* where the next one begins, */
    put32(pool + 44, pool_bytes - CELL);                        /* and the last one at most */
    return cell;
}

static inline uint64_t small_object(uint64_t type, uint64_t before)
{
    const uint64_t object = new_cell() + before;

    put(object, 1);
    put(object + SEEP_PY_TYPE, type);
    return object;
}

static inline uint64_t small_list(const uint64_t *items, size_t n)
{
    const uint64_t list = small_object(types.list, 16), table = new_cell();

    put(list + SEEP_PY_SIZE, n);
    put(list + SEEP_PY_LIST_ITEMS, table);
    for (size_t i = 0; i < n; i++)
        put(table + i * 8, items[i]);
    return list;
}

static inline void begin_pools(uint32_t version)
{
    begin(version);
    memset(heap_bytes + HEAP_BYTES / 2, 0, HEAP_BYTES / 2);
    n_pools = n_in_pool = 0;
}

#endif
