/* What needs no node of its own, in made-up pools of Python's small objects. */
#include "libprof/who/graph/cells.h"

#include "libprof/who/survey/read_cells.h"
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/reach_passes.h"
#include "tests/who/survey/pool_fixture.h"

enum { SMALL = 9 };

static struct seep_cells cells;
static struct examined e;

static void survey(void)
{
    static const struct seep_root_places places = {0};

    memset(&e, 0, sizeof e);
    ck_assert_int_eq(seep_maps_parse(&e.maps, maps_text, strlen(maps_text)), 0);
    seep_memory_init(&e.memory, read_fixture, NULL, 64 << 20);
    e.heap = (struct seep_heap){
        .memory = &e.memory,
        .maps = &e.maps,
        .python = {.layout = layout_of_fixture(), .runtime = runtime},
        .cells_site = SMALL,
        .least_address = HEAP_AT,
    };
    for (size_t i = 0; i < n_blocks; i++)
        ck_assert_int_eq(seep_graph_add(&e.heap, &blocks[i]), 0);
    for (size_t i = 0; i < n_pools; i++)
        ck_assert_int_eq(seep_cells_add(&cells, pools[i], layout_of_fixture()->pool_bytes), 0);
    cells.most_nodes = UINT32_MAX;
    ck_assert_int_eq(seep_cells_read(&cells, &e.heap), 0);
    e.heap.cells = &cells;
    ck_assert_int_eq(seep_graph_end(&e.heap), 0);
    ck_assert_int_eq(seep_reach_init(&e.reach, &e.heap, &places, false), 0);
    seep_cells_fini(&cells);
    e.heap.cells = NULL;
}

static uint32_t node_at(uint64_t address)
{
    for (uint32_t i = 0; i < e.heap.n_nodes; i++)
        if (address >= e.heap.nodes[i].start && address < seep_node_end(&e.heap.nodes[i]))
            return i;
    return SEEP_NODE_NONE;
}

static void expect_with(uint64_t object, uint64_t n)
{
    uint64_t bytes, its;

    seep_node_with(&e.heap, node_at(object), &bytes, &its);
    ck_assert_uint_eq(its, n);
    ck_assert_uint_eq(bytes, n * CELL);
}

/* A list of two texts: its table and the texts go with it. */
TEST(a_text_and_a_table_go_with_the_list_that_refers_to_them, EACH_VERSION)
{
    static const char *const names[] = {"kept"};

    begin_pools((uint32_t)_i);
    const uint64_t bytes = new_type("bytes", SEEP_PY_IS_BYTES, 33);
    const uint64_t items[] = {small_object(bytes, 0), small_object(bytes, 0)};
    const uint64_t list = small_list(items, 2);
    make_main(names, &list, 1);
    survey();
    ck_assert_uint_eq(node_at(items[0]), SEEP_NODE_NONE);
    ck_assert_uint_eq(node_at(items[1]), SEEP_NODE_NONE);
    expect_with(list, 3);
    examined_fini(&e);
}

/* What two refer to belongs to neither alone. */
TEST(what_two_references_keep_has_a_node, EACH_VERSION)
{
    static const char *const names[] = {"kept", "also"};

    begin_pools((uint32_t)_i);
    const uint64_t shared = small_object(new_type("bytes", SEEP_PY_IS_BYTES, 33), 0);
    const uint64_t lists[] = {small_list(&shared, 1), small_list(&shared, 1)};
    put(shared, 2);
    make_main(names, lists, 2);
    survey();
    ck_assert_uint_ne(node_at(shared), SEEP_NODE_NONE);
    ck_assert(e.heap.nodes[node_at(shared)].is_explained);
    expect_with(lists[0], 1); /* its table */
    examined_fini(&e);
}

/* It counts one of its references, and not that of the table of all interned texts. */
TEST(an_interned_text_has_a_node, EACH_VERSION)
{
    static const char *const names[] = {"kept"};

    begin_pools((uint32_t)_i);
    const uint64_t items[] = {small_object(types.str, 0), small_object(types.str, 0)};
    put32(items[0] + SEEP_PY_TEXT_STATE, SEEP_PY_TEXT_COMPACT);
    put32(items[1] + SEEP_PY_TEXT_STATE, SEEP_PY_TEXT_COMPACT | 1);
    const uint64_t list = small_list(items, 2);
    make_main(names, &list, 1);
    survey();
    ck_assert_uint_eq(node_at(items[0]), SEEP_NODE_NONE);
    ck_assert_uint_ne(node_at(items[1]), SEEP_NODE_NONE);
    expect_with(list, 2);
    examined_fini(&e);
}

/* The count of 1 is a reference that was never given back. */
TEST(what_nobody_refers_to_has_a_node_that_counts_too_many, EACH_VERSION)
{
    begin_pools((uint32_t)_i);
    const uint64_t lost = small_object(new_type("bytes", SEEP_PY_IS_BYTES, 33), 0);
    make_main(NULL, NULL, 0);
    survey();
    ck_assert_uint_ne(node_at(lost), SEEP_NODE_NONE);
    ck_assert(e.heap.nodes[node_at(lost)].is_overcounted);
    ck_assert_uint_eq(e.heap.nodes[node_at(lost)].site, SMALL);
    ck_assert_int_eq(seep_reach_run(&e.reach), 0);
    ck_assert_int_eq(seep_references_find(&e.reach), 0);
    ck_assert_uint_ne(e.reach.distance[node_at(lost)], SEEP_UNREACHED);
    examined_fini(&e);
}

/* What ctypes has returned leads to a block. */
TEST(an_int_that_may_be_an_address_has_a_node, EACH_VERSION)
{
    static const char *const names[] = {"handles"};
    const bool tagged = _i >= 12;

    begin_pools((uint32_t)_i);
    const uint64_t type = new_type("int", SEEP_PY_IS_INT, 24), block_at = block(3000, 1);
    const uint64_t items[] = {small_object(type, 0), small_object(type, 0)};
    for (size_t i = 0; i < 2; i++) {
        put(items[i] + 16, tagged ? 1u << 3 : 1u);
        put32(items[i] + 24, i ? (uint32_t)block_at : 7);
    }
    const uint64_t list = small_list(items, 2);
    make_main(names, &list, 1);
    survey();
    ck_assert_uint_eq(node_at(items[0]), SEEP_NODE_NONE);
    ck_assert_uint_ne(node_at(items[1]), SEEP_NODE_NONE);
    examined_fini(&e);
}

/* A copy's list of maps may say anything. */
TEST(arenas_that_overlap_are_read_once)
{
    static const char *const names[] = {"kept"};

    begin_pools(11);
    const uint64_t lost = small_object(new_type("bytes", SEEP_PY_IS_BYTES, 33), 0);
    const uint64_t list = small_list(&lost, 1), pool = layout_of_fixture()->pool_bytes;
    make_main(names, &list, 1);
    ck_assert_int_eq(seep_cells_add(&cells, pools[0] - 3 * pool, 8 * pool), 0);
    ck_assert_int_eq(seep_cells_add(&cells, pools[0] + pool, 2 * pool), 0);
    survey();
    ck_assert_uint_eq(node_at(lost), SEEP_NODE_NONE);
    expect_with(list, 2);
    examined_fini(&e);
}

/* What a heap of records takes: dicts of lists and texts, as a data set has them. Nodes, where
 * their edges are, edges, paths. */
TEST(a_record_of_six_objects_takes_less_than_thirty_two_bytes_each)
{
    enum { RECORDS = 30, EACH = 6 };
    static const char *const names[] = {"records"};
    uint64_t records[RECORDS];
    const struct seep_survey *s;

    begin_pools(11);
    const uint64_t bytes = new_type("bytes", SEEP_PY_IS_BYTES, 33);
    for (size_t i = 0; i < RECORDS; i++) {
        const uint64_t items[] = {small_object(bytes, 0), small_object(bytes, 0),
                                  small_object(bytes, 0), small_object(bytes, 0)};
        records[i] = small_list(items, 4); /* with its table: six cells */
    }
    const uint64_t list = new_list(records, RECORDS);
    make_main(names, &list, 1);
    survey();
    s = e.heap.survey;
    uint32_t n = 0;
    for (size_t i = 0; i < RECORDS; i++)
        n += node_at(records[i]) != SEEP_NODE_NONE;
    ck_assert_uint_eq(n, RECORDS);
    const size_t a_node = sizeof *e.heap.nodes + sizeof *e.reach.distance + sizeof *e.reach.parent +
                          sizeof *e.reach.label + sizeof *s->place;
    const size_t edges = (s->edges.n + RECORDS - 1) / RECORDS;
    ck_assert_uint_le(a_node + edges, 32 * EACH);
    examined_fini(&e);
}

SUITE("cells");
