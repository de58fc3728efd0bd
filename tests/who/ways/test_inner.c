/* Memory that only interior pointers lead to: any word that points into a block keeps it from being
 * called lost. */
#include "tests/who/ways/heap_fixture.h"

enum { BUCKETS = 500, BUCKET = 16, KEPT_BYTES = 3000, TABLE_BYTES = BUCKETS * BUCKET + BUCKETS };

static struct examined e;

static void expect(int i, enum seep_hold_state state)
{
    ck_assert_int_gt(e.n, i);
    ck_assert_str_eq(seep_hold_state_word(e.answers[i].state), seep_hold_state_word(state));
}

/* Rust's HashMap: what leads to the table is where its control bytes begin, behind the buckets. */
static uint64_t new_table(uint64_t *control)
{
    uint64_t table = block(TABLE_BYTES, 2);

    *control = table + BUCKETS * BUCKET;
    for (uint64_t i = 0; i < 40; i++)
        put(*control - (i + 1) * BUCKET, block(KEPT_BYTES, 1));
    return table;
}

TEST(a_table_is_held_by_where_its_buckets_end, EACH_VERSION)
{
    uint64_t control, map, object;

    begin((uint32_t)_i);
    (void)new_table(&control);
    map = block(64, 0);
    put(map + 8, control);
    object = new_object(types.node, 32, 0);
    put(object + 16, map);
    make_main((const char *[]){"cache"}, &object, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD);
    ck_assert_uint_eq(e.answers[0].lost_bytes, 0);
    ck_assert_str_eq(e.answers[0].paths[0].path.root_name, "__main__");
    ck_assert_uint_eq(e.answers[0].paths[0].sole_bytes, e.answers[0].bytes);
    examined_fini(&e);
}

/* Behind its last byte lies another's memory, mostly; as far in as one likes does not. */
static const struct {
    uint64_t at;
    enum seep_hold_state state;
} addresses[] = {{KEPT_BYTES * 40, SEEP_HOLD_LOST},
                 {KEPT_BYTES * 40 - 8, SEEP_HOLD_HELD},
                 {128, SEEP_HOLD_HELD}};

TEST(an_address_of_any_byte_in_it_holds_a_block, .to = N(addresses))
{
    uint64_t kept;

    begin(11);
    kept = block(KEPT_BYTES * 40, 1);
    put(LIBRARY_AT + 128, kept + addresses[_i].at);
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, addresses[_i].state);
    examined_fini(&e);
}

/* Where heaps lie low, small numbers look like addresses. */
TEST(odd_numbers_are_no_addresses_of_a_low_heap)
{
    uint64_t kept;

    begin(11);
    kept = block(KEPT_BYTES * 40, 1);
    put(LIBRARY_AT + 128, kept + 1001);
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_LOST);
    examined_fini(&e);
}

/* What ctypes returns for an address is a number; Python 3.12 has another head for it. */
static uint64_t new_int(uint64_t value, bool negative)
{
    enum { IS_INT = 1 << 24, DIGIT = (1 << 30) - 1 };
    uint64_t type = new_type("int", IS_INT, 24), object = new_object(type, 32, 0);
    uint64_t n = value > DIGIT ? 2 : 1;

    put(object + 16, minor >= 12 ? n << 3 | (negative ? 2 : 0) : negative ? -n : n);
    put32(object + 24, (uint32_t)(value & DIGIT));
    put32(object + 28, (uint32_t)(value >> 30));
    return object;
}

TEST(a_handle_that_is_a_number_holds_what_it_leads_to, EACH_VERSION)
{
    static const struct {
        bool negative;
        uint64_t at; /* bytes into the block */
    } numbers[] = {{false, 0}, {true, 0}, {false, 1000}};

    for (size_t k = 0; k < N(numbers); k++) {
        uint64_t handles[20], list;

        begin((uint32_t)_i);
        for (int i = 0; i < 20; i++)
            handles[i] = new_int(block(5000, 1) + numbers[k].at, numbers[k].negative);
        list = new_list(handles, 20);
        make_main((const char *[]){"handles"}, &list, 1);
        examine(&e);
        expect(0, k ? SEEP_HOLD_LOST : SEEP_HOLD_HELD);
        examined_fini(&e);
    }
}

/* What a large block has behind its first MiB is read before anything is called lost. */
TEST(a_large_table_is_read_to_its_end)
{
    uint64_t large;

    begin(11);
    large = block(3 << 20, 0);
    for (uint64_t i = 0; i < 40; i++)
        put(large + (2 << 20) + i * 8, block(KEPT_BYTES, 1));
    put(LIBRARY_AT + 128, large);
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_HELD);
    examined_fini(&e);
}

/* Cycles wait for the collector, whoever points into what they hold. */
TEST(an_address_inside_does_not_hold_a_cycle, EACH_VERSION)
{
    uint64_t node, in_c;

    begin((uint32_t)_i);
    node = new_object(types.node, 32, 0);
    in_c = block(64, 0);
    put(node + 16, in_c);
    put(in_c, node);
    put(in_c + 8, block(KEPT_BYTES * 40, 1));
    put(LIBRARY_AT + 128, blocks[n_blocks - 1].start + 256);
    (void)block(KEPT_BYTES * 40, 2); /* this is lost, which is why anybody looks */
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_CYCLE);
    expect(1, SEEP_HOLD_LOST);
    examined_fini(&e);
}

/* Old addresses lie about: what each of them leads to is little of what is lost. */
TEST(stray_addresses_do_not_hide_what_is_lost, .to = 2)
{
    uint64_t lost[30], other;

    begin(11);
    for (size_t i = 0; i < N(lost); i++)
        lost[i] = block(5000, 1);
    other = block(64, 0);
    put(LIBRARY_AT + 128, other);
    for (uint64_t i = 0; i < 2; i++) {
        put(LIBRARY_AT + 136 + i * 8, lost[i] + 1024);
        put(other + i * 8, lost[2 + i] + 1024);
    }
    for (uint64_t i = 0; i < 4 && _i; i++) /* so much by one way is no stray */
        put(LIBRARY_AT + 160 + i * 8, lost[10 + i] + 1024);
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, _i ? SEEP_HOLD_HELD : SEEP_HOLD_LOST);
    examined_fini(&e);
}

/* Numbers of a low heap lead to any place of a block; who keeps addresses keeps them of one place.
 */
TEST(numbers_that_lead_anywhere_hold_nothing, .to = 3)
{
    begin(11);
    for (uint64_t i = 0; i < 30; i++) {
        uint64_t lost = block(5000, 1), words = _i == 2 ? 4 : 1;
        for (uint64_t k = 0; k < words; k++) /* at one place, anywhere, anywhere but often */
            put(LIBRARY_AT + 128 + (4 * i + k) * 8, lost + 1024 + (_i ? i * 8 + k * 256 : 0));
    }
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, _i == 1 ? SEEP_HOLD_LOST : SEEP_HOLD_HELD);
    examined_fini(&e);
}

/* In a low heap the flags of the interpreter's types are numbers that look like addresses. */
TEST(what_the_interpreter_has_among_its_types_holds_no_inside)
{
    begin(11);
    put(DATA_AT + 128, block(KEPT_BYTES * 40, 1) + 1024);
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_LOST);
    examined_fini(&e);
}

/* Some words too many change nothing of what is held by its beginning. */
TEST(what_is_held_keeps_its_holder, EACH_VERSION)
{
    uint64_t items[20], list;

    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++)
        items[i] = new_object(types.array, 20000, 1);
    list = new_list(items, 20);
    for (uint64_t i = 0; i < 20; i++)
        put(LIBRARY_AT + 128 + i * 8, items[i] + 4096);
    (void)block(KEPT_BYTES * 40, 2);
    make_main((const char *[]){"history"}, &list, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD);
    ck_assert_str_eq(e.answers[0].paths[0].holder_name, "__main__.history");
    ck_assert_uint_eq(e.answers[0].paths[0].sole_bytes, e.answers[0].bytes);
    expect(1, SEEP_HOLD_LOST);
    examined_fini(&e);
}

SUITE("inner")
