/* Whether a map is an arena of Python's small objects. */
#include "libprof/who/graph/pymalloc.h"
#include "tests/suite.h"

#include <string.h>

#define START (UINT64_C(1) << 40)
#define GIB   (UINT64_C(1) << 30)

enum { PAGE = 4096, MOST = 8 };

static const struct seep_python_layout layout = {.pool_bytes = 16384, .arena_bytes = 1 << 20};
static uint64_t in_use[MOST]; /* pools, by their place in the map */
static size_t n_in_use, n_calls;
static struct seep_memory memory;

/* Everything else is zeros, as in a file that has holes. */
static size_t read_map(void *context, uint64_t address, void *to, size_t n)
{
    (void)context;
    n_calls++;
    memset(to, 0, n);
    for (size_t i = 0; i < n_in_use; i++) {
        if (START + in_use[i] * layout.pool_bytes != address)
            continue;
        const uint32_t count = 3, class_16 = 0, next = SEEP_POOL_HEAD + 3 * 16,
                       last = layout.pool_bytes - 16;
        memcpy((char *)to, &count, 4);
        memcpy((char *)to + 36, &class_16, 4);
        memcpy((char *)to + 40, &next, 4);
        memcpy((char *)to + 44, &last, 4);
    }
    return n;
}

static void set_up(void)
{
    n_in_use = n_calls = 0;
    seep_memory_init(&memory, read_map, NULL, 64 << 20);
}

static void tear_down(void)
{
    seep_memory_fini(&memory);
}

static bool is_arena(uint64_t bytes)
{
    const struct seep_snapshot_block map = {.start = START, .bytes = bytes};

    return seep_pymalloc_is_arena(&memory, &layout, &map);
}

static void use(uint64_t pool)
{
    in_use[n_in_use++] = pool;
}

TEST(one_pool_in_use_makes_an_arena_wherever_it_is)
{
    use(63);
    ck_assert(is_arena(1 << 20));
}

TEST(arenas_side_by_side_may_be_one_map)
{
    use(64 + 7);
    use(2 * 64);
    ck_assert(is_arena(5 << 20));
}

TEST(a_map_without_pools_is_none)
{
    ck_assert(!is_arena(1 << 20));
    ck_assert(!is_arena((1 << 20) + PAGE));
}

/* As a database that maps a file with room for all that it may ever hold. */
TEST(little_of_a_huge_map_is_read)
{
    ck_assert(!is_arena(64 * GIB));
    ck_assert_uint_lt(n_calls, 1000);
}

SUITE("pymalloc", .setup = set_up, .teardown = tear_down)
