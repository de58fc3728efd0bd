/* References that native code took and never gave back, told from memory that was never freed. */
#include "tests/who/ways/heap_fixture.h"

static struct examined e;

static void expect(int i, enum seep_hold_state state)
{
    ck_assert_int_gt(e.n, i);
    ck_assert_str_eq(seep_hold_state_word(e.answers[i].state), seep_hold_state_word(state));
}

/* Lists of arrays of line 1 that nobody refers to. `counted`: what each list says of that. */
static void make_lists(uint64_t counted)
{
    for (int i = 0; i < 20; i++) {
        uint64_t item = new_object(types.array, 5000, 1), list = new_list(&item, 1);
        put(list, counted);
    }
}

TEST(a_reference_that_was_never_given_back_is_no_lost_memory, EACH_VERSION)
{
    char *text;

    begin((uint32_t)_i);
    make_lists(1);
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_REFERENCE);
    ck_assert_uint_eq(e.answers[0].reference_bytes, 20 * 5000);
    ck_assert_uint_eq(e.answers[0].lost_bytes, 0);
    ck_assert_uint_eq(e.answers[0].n_paths, 1);
    text = seep_path_text(&e.answers[0].paths[0].path);
    ck_assert_str_eq(text, "a reference that was never given back (list)[0] (bytearray)");
    free(text);
    ck_assert_str_eq(e.answers[0].paths[0].holder_name, "");
    examined_fini(&e);
}

/* What never dies is counted by nobody. */
static const uint64_t no_counts[] = {UINT64_C(0xffffffff), UINT64_C(0xc0000000)};

TEST(only_a_count_that_is_one_says_that_a_reference_was_taken, .to = N(no_counts))
{
    begin(12);
    make_lists(no_counts[_i]);
    make_main(NULL, NULL, 0);
    for (size_t i = 0; i < n_blocks; i++) /* the arrays count the list's reference alone */
        if (blocks[i].site == 1)
            put(blocks[i].start, 1);
    examine(&e);
    expect(0, SEEP_HOLD_LOST);
    examined_fini(&e);
}

/* Two of them refer to each other: that is a cycle, which the collector frees. */
TEST(a_cycle_is_no_reference_too_many, EACH_VERSION)
{
    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++) {
        uint64_t items[2] = {new_object(types.array, 5000, 1), 0};
        uint64_t list = new_list(items, 2), other = new_list(&list, 1);
        uint64_t table;
        memcpy(&table, at(list + SEEP_PY_LIST_ITEMS), sizeof table);
        put(table + 8, other);
    }
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_CYCLE);
    ck_assert_uint_eq(e.answers[0].reference_bytes, 0);
    examined_fini(&e);
}

TEST(what_somebody_holds_may_count_more_than_is_seen, EACH_VERSION)
{
    uint64_t items[20], list;

    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++) {
        items[i] = new_object(types.array, 5000, 1);
        put(items[i], 3);
    }
    list = new_list(items, 20);
    make_main((const char *[]){"history"}, &list, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD);
    ck_assert_uint_eq(e.answers[0].reference_bytes, 0);
    examined_fini(&e);
}

/* What somebody holds keeps its way, whoever else has it. */
TEST(a_reference_too_many_takes_nothing_from_a_holder, EACH_VERSION)
{
    uint64_t items[20], list, other;
    char *text;

    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++)
        items[i] = new_object(types.array, 5000, 1);
    list = new_list(items, 20);
    other = new_list(items, 20);
    put(other, 2);
    make_main((const char *[]){"history"}, &list, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD);
    text = seep_path_text(&e.answers[0].paths[0].path);
    ck_assert_str_eq(text, "module __main__.history[20] (bytearray)");
    free(text);
    examined_fini(&e);
}

TEST(a_part_that_a_reference_too_many_holds_names_no_holder, EACH_VERSION)
{
    static const char *const names[] = {"one", "two", "three", "four"};
    uint64_t lists[4], items[3];

    begin((uint32_t)_i);
    for (int k = 0; k < 4; k++) { /* each a way of its own, less than what is not given back */
        for (int i = 0; i < 3; i++)
            items[i] = new_object(types.array, 5000, 1);
        lists[k] = new_list(items, 3);
    }
    for (int i = 0; i < 9; i++) {
        uint64_t item = new_object(types.array, 5000, 1);
        (void)new_list(&item, 1);
    }
    make_main(names, lists, 4);
    examine(&e);
    ck_assert_int_gt(e.n, 0);
    ck_assert_int_ne(e.answers[0].state, SEEP_HOLD_REFERENCE);
    for (size_t i = 0; i < e.answers[0].n_paths; i++)
        ck_assert_int_ne(e.answers[0].paths[i].path.root.kind, SEEP_ROOT_REFERENCE);
    examined_fini(&e);
}

/* A cycle without a holder refers to what a module's variable holds by a longer way. */
TEST(what_garbage_refers_to_as_well_is_told_of_its_holder, EACH_VERSION)
{
    const char *const names[] = {"kept"};
    uint64_t items[20], list;

    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++)
        items[i] = new_object(types.array, 5000, 1);
    const uint64_t inner = new_list(items, 20);
    list = inner;
    for (int i = 0; i < 60; i++)
        list = new_list(&list, 1);
    const uint64_t both[2] = {inner, 0};
    const uint64_t garbage = new_list(both, 2), other = new_list(&garbage, 1);
    uint64_t table;
    memcpy(&table, at(garbage + SEEP_PY_LIST_ITEMS), sizeof table);
    put(table + 8, other);
    make_main(names, &list, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD);
    char *text = seep_path_text(&e.answers[0].paths[0].path);
    ck_assert_msg(strstr(text, "module __main__.kept") == text, "%s", text);
    free(text);
    ck_assert_uint_eq(e.answers[0].paths[0].bytes, 20 * 5000);
    examined_fini(&e);
}

SUITE("references")
