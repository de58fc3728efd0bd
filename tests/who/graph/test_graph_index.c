/* Which block an address lies in: as a search of all blocks finds it. */
#include "libprof/who/graph/graph.h"
#include "tests/suite.h"

#include <stdlib.h>

#define REGION (UINT64_C(64) << 20)

enum { MOST = 5000, ASKED = 20000 };

static struct seep_snapshot_block blocks[MOST];
static size_t n_blocks;
static struct seep_heap heap;

static void place(uint64_t start, uint64_t bytes)
{
    ck_assert_uint_lt(n_blocks, MOST);
    blocks[n_blocks++] = (struct seep_snapshot_block){.start = start, .bytes = bytes};
}

static void tear_down(void)
{
    seep_graph_fini(&heap);
    heap = (struct seep_heap){0};
    n_blocks = 0;
}

static uint64_t any_below(uint64_t most)
{
    return ((uint64_t)rand() << 31 ^ (uint64_t)rand()) % most;
}

/* Small blocks side by side, with gaps. */
static void place_many(uint64_t at, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t bytes = 16 + any_below(400);
        place(at, bytes);
        at = (at + bytes + any_below(3) * 16 + 15) & ~UINT64_C(15);
    }
}

static uint32_t found_by_all(uint64_t address)
{
    for (uint32_t i = 0; i < heap.n_blocks; i++)
        if (address >= heap.nodes[i].start && address < seep_node_end(&heap.nodes[i]))
            return i;
    return SEEP_NODE_NONE;
}

static void ask(uint64_t from, uint64_t to)
{
    const uint64_t address = from + any_below(to - from);

    ck_assert_uint_eq(seep_heap_find(&heap, address), found_by_all(address));
}

/* An address anywhere in a map is its; of its bytes only those count that were touched. */
TEST(a_map_weighs_what_was_touched_of_it)
{
    const struct seep_snapshot_block maps[] = {
        {.start = 32 * REGION, .bytes = REGION, .touched_pages = 3},
        {.start = 16 * REGION, .bytes = REGION},
    };
    const uint64_t bytes[] = {3 * SEEP_TOUCHED_PAGE, REGION};

    for (size_t i = 0; i < 2; i++)
        ck_assert_int_eq(seep_graph_add_map(&heap, &maps[i]), 0);
    ck_assert_int_eq(seep_graph_end(&heap), 0);
    for (size_t i = 0; i < 2; i++) {
        const uint32_t node = seep_heap_find(&heap, maps[i].start + REGION - 1);
        ck_assert_uint_ne(node, SEEP_NODE_NONE);
        ck_assert_uint_eq(seep_node_all_bytes(&heap, node), bytes[i]);
    }
}

TEST(blocks_that_are_crowded_rare_or_lie_over_regions_are_found)
{
    const uint64_t low = 16 * REGION, high = low + 100 * REGION;

    srand(7);
    place_many(low + 100, 2000);
    place_many(low + REGION - 1000, 20);          /* over the end of a region */
    place(low + 3 * REGION - 8, 5 * REGION + 16); /* over several */
    place(low + 8 * REGION + 64, 1);
    place(low + 20 * REGION, REGION); /* all of one, and nothing of the next */
    place_many(high, 2000);
    ck_assert_int_eq(seep_graph_init(&heap, blocks, n_blocks), 0);
    ck_assert_uint_eq(heap.n_blocks, n_blocks);
    for (size_t i = 0; i < n_blocks; i++) {
        const uint64_t end = blocks[i].start + blocks[i].bytes;
        ask(blocks[i].start - 1, blocks[i].start);
        ask(blocks[i].start, blocks[i].start + 1);
        ask(end - 1, end);
        ask(end, end + 1);
    }
    for (size_t i = 0; i < ASKED; i++)
        ask(low, low + 22 * REGION);
    ck_assert_uint_eq(seep_heap_find(&heap, 0), SEEP_NODE_NONE);
    ck_assert_uint_eq(seep_heap_find(&heap, UINT64_MAX), SEEP_NODE_NONE);
}

/* Programs at low addresses have their heap far below their libraries' memory. */
TEST(far_apart_blocks_take_no_memory_for_what_lies_between)
{
    place(UINT64_C(0x400000), 100);
    place(UINT64_C(0x7fffffff0000), 100);
    ck_assert_int_eq(seep_graph_init(&heap, blocks, n_blocks), 0);
    ck_assert_uint_eq(seep_heap_find(&heap, 0x400063), 0);
    ck_assert_uint_eq(seep_heap_find(&heap, 0x400064), SEEP_NODE_NONE);
    ck_assert_uint_eq(seep_heap_find(&heap, UINT64_C(0x400000000000)), SEEP_NODE_NONE);
    ck_assert_uint_eq(seep_heap_find(&heap, UINT64_C(0x7fffffff0001)), 1);
    ck_assert_uint_le(heap.n_tables, 4);
}

TEST(no_block_at_all_is_none)
{
    ck_assert_int_eq(seep_graph_init(&heap, blocks, 0), 0);
    ck_assert_uint_eq(seep_heap_find(&heap, 0), SEEP_NODE_NONE);
    ck_assert_uint_eq(seep_heap_find(&heap, 1), SEEP_NODE_NONE);
    ck_assert_uint_eq(seep_heap_find(&heap, 4096), SEEP_NODE_NONE);
}

SUITE("graph_index", .teardown = tear_down)
