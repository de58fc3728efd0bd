/* What small objects without a node of their own count for in a look. */
#include "libprof/look/look_holders.h"
#include "tests/who/survey/pool_fixture.h"

enum { MANY = 1500 }; /* 94 KiB: less than 64 are not listed */

static struct seep_look_holders holders;
static uint64_t texts[MANY], bytes_type;

static void close_it(void)
{
    seep_look_holders_fini(&holders);
}

static void look(void)
{
    const struct seep_take_limits limits = {0};
    struct seep_taken taken = {.blocks.most = MAX_BLOCKS};

    for (size_t i = 0; i < n_blocks; i++)
        seep_block_add(&taken.blocks, SEEP_BLOCK_CHUNK, blocks[i].start, blocks[i].bytes);
    for (size_t i = 0; i < n_pools; i++)
        seep_block_add(&taken.blocks, SEEP_BLOCK_POOLS, pools[i], layout_of_fixture()->pool_bytes);
    seep_block_sort(&taken.blocks);
    ck_assert_int_eq(seep_maps_parse(&taken.dump.maps, maps_text, strlen(maps_text)), 0);
    seep_memory_init(&taken.dump.memory, read_fixture, NULL, 64 << 20);
    taken.python = (struct seep_python){.layout = layout_of_fixture(), .runtime = runtime};
    ck_assert_int_eq(seep_taken_settle(&taken), 0);
    ck_assert_int_eq(seep_taken_survey(&taken, &limits, true), 0);
    ck_assert_uint_lt(taken.heap.n_nodes, MANY);
    ck_assert_int_eq(seep_look_holders_find(&holders, &taken, true), 0);
    seep_taken_fini(&taken);
    ck_assert_uint_eq(holders.reached_bytes + holders.cycle_bytes + holders.reference_bytes +
                          holders.lost_bytes,
                      holders.live_bytes);
}

static void begin_texts(void)
{
    begin_pools(11);
    bytes_type = new_type("bytes", SEEP_PY_IS_BYTES, 33);
    for (size_t i = 0; i < MANY; i++)
        texts[i] = small_object(bytes_type, 0);
}

TEST(a_holder_retains_what_goes_with_it)
{
    static const char *const names[] = {"kept"};

    begin_texts();
    const uint64_t list = new_list(texts, MANY);
    make_main(names, &list, 1);
    look();
    ck_assert_uint_ge(holders.nodes, MANY);
    ck_assert_uint_eq(holders.n, 1);
    ck_assert_uint_ge(holders.list[0].retained[SEEP_LOOK_HOST], MANY * CELL);
    ck_assert_uint_eq(holders.lost_bytes, 0);
    ck_assert_uint_eq(holders.reference_bytes, 0);
}

TEST(a_text_that_nobody_refers_to_is_told)
{
    static const char *const names[] = {"kept"};

    begin_texts();
    const uint64_t list = new_list(texts, MANY - 1);
    make_main(names, &list, 1);
    look();
    ck_assert_uint_eq(holders.reference_bytes, CELL);
}

TEST(a_cycle_keeps_what_goes_with_it)
{
    begin_texts();
    const uint64_t ring = new_object(types.tuple, 24 + 16, 0);
    put(ring + SEEP_PY_SIZE, 2);
    put(ring + 24, ring);
    put(ring + 32, new_list(texts, MANY));
    make_main(NULL, NULL, 0);
    look();
    ck_assert_uint_ge(holders.cycle_bytes, MANY * CELL);
    ck_assert_uint_eq(holders.n, 1);
    ck_assert_int_eq(holders.list[0].state, SEEP_HOLD_CYCLE);
    ck_assert_uint_ge(holders.list[0].retained[SEEP_LOOK_HOST], MANY * CELL);
    ck_assert_uint_eq(holders.reference_bytes, 0);
}

SUITE("look: small objects", NULL, close_it);
