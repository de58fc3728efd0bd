/* Which object holds what, in made-up heaps, for each version of Python. */
#include "tests/who/ways/heap_fixture.h"

static struct examined e;

static uint64_t array(uint32_t site)
{
    return new_object(types.array, 20000, site);
}

static void expect(int i, enum seep_hold_state state, const char *text, const char *holder)
{
    char *got;

    ck_assert_int_gt(e.n, i);
    ck_assert_str_eq(seep_hold_state_word(e.answers[i].state), seep_hold_state_word(state));
    if (!text)
        return;
    ck_assert_uint_ge(e.answers[i].n_paths, 1);
    got = seep_path_text(&e.answers[i].paths[0].path);
    ck_assert_str_eq(got, text);
    free(got);
    ck_assert_str_eq(e.answers[i].paths[0].holder_name, holder);
}

TEST(a_modules_list_holds_what_is_in_it, EACH_VERSION)
{
    uint64_t items[20], list;

    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++)
        items[i] = array(1);
    list = new_list(items, 20);
    make_main((const char *[]){"history"}, &list, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "module __main__.history[20] (bytearray)", "__main__.history");
    ck_assert_int_eq(e.answers[0].paths[0].holder_length, 20);
    ck_assert_uint_eq(e.answers[0].paths[0].sole_bytes, e.answers[0].bytes);
    ck_assert_uint_eq(e.answers[0].blocks, 20);
    examined_fini(&e);
}

TEST(a_block_may_stand_for_several, EACH_VERSION)
{
    uint64_t few[2], many[5], lists[2];

    begin((uint32_t)_i);
    for (int i = 0; i < 5; i++)
        many[i] = array(1);
    for (int i = 0; i < 2; i++) {
        few[i] = array(1);
        blocks[n_blocks - 1].stands_for = 10;
    }
    lists[0] = new_list(many, 5);
    lists[1] = new_list(few, 2);
    make_main((const char *[]){"many", "few"}, lists, 2);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "module __main__.few[0] (bytearray)", "__main__.few");
    ck_assert_uint_eq(e.answers[0].blocks, 25);
    ck_assert_uint_eq(e.answers[0].bytes, 25 * 20000);
    ck_assert_uint_eq(e.answers[0].paths[0].blocks, 20);
    ck_assert_uint_eq(e.answers[0].paths[0].sole_bytes, 20 * 20000);
    examined_fini(&e);
}

TEST(keys_of_a_dict_are_counted, EACH_VERSION)
{
    uint64_t keys[40], values[40], dict;
    char name[16];

    begin((uint32_t)_i);
    for (int i = 0; i < 40; i++) {
        snprintf(name, sizeof name, "img%d", i);
        keys[i] = new_text(name);
        values[i] = array(1);
    }
    dict = new_dict(keys, values, 40);
    make_main((const char *[]){"cache"}, &dict, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "module __main__.cache[40 keys] (bytearray)", "__main__.cache");
    ck_assert_int_eq(e.answers[0].paths[0].holder_length, 40);
    examined_fini(&e);
}

TEST(of_two_lists_neither_alone_frees_anything, EACH_VERSION)
{
    uint64_t items[20], lists[2];

    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++) {
        items[i] = array(1);
        put(items[i], 2);
    }
    lists[0] = new_list(items, 20);
    lists[1] = new_list(items, 20);
    make_main((const char *[]){"viewpoints", "cameras"}, lists, 2);
    examine(&e);
    ck_assert_str_eq(seep_hold_state_word(e.answers[0].state), "shared");
    ck_assert_uint_eq(e.answers[0].n_paths, 2);
    ck_assert_uint_eq(e.answers[0].paths[0].sole_bytes, 0);
    ck_assert_uint_eq(e.answers[0].paths[1].sole_bytes, e.answers[0].bytes);
    examined_fini(&e);
}

/* As a parameter of torch is an optimizer's key, in its groups, and its module's. */
TEST(of_three_lists_all_are_named, EACH_VERSION)
{
    uint64_t items[20], lists[3];

    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++) {
        items[i] = array(1);
        put(items[i], 3);
    }
    for (int i = 0; i < 3; i++)
        lists[i] = new_list(items, 20);
    make_main((const char *[]){"state", "groups", "modules"}, lists, 3);
    examine(&e);
    ck_assert_str_eq(seep_hold_state_word(e.answers[0].state), "shared");
    ck_assert_uint_eq(e.answers[0].n_paths, 3);
    ck_assert_uint_eq(e.answers[0].paths[1].sole_bytes, 0);
    ck_assert_uint_eq(e.answers[0].paths[2].sole_bytes, e.answers[0].bytes);
    examined_fini(&e);
}

TEST(nobody_holds_what_was_lost, EACH_VERSION)
{
    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++)
        (void)block(5000, 1);
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_LOST, NULL, NULL);
    ck_assert_uint_eq(e.answers[0].lost_bytes, 20 * 5000);
    examined_fini(&e);
}

/* Each refers to itself in a field that nobody described, and to an array. */
TEST(a_cycle_is_nobody_but_itself, EACH_VERSION)
{
    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++) {
        uint64_t node = new_object(types.node, 32, 0);
        put(node + 16, node);
        put(node + 24, array(1));
    }
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_CYCLE, "nobody but a cycle (Node) → (bytearray)", "");
    ck_assert_uint_eq(e.answers[0].cycle_bytes, e.answers[0].bytes);
    examined_fini(&e);
}

/* As an autograd node in C++ and its context in Python do. */
TEST(a_cycle_may_go_through_blocks_of_c, EACH_VERSION)
{
    begin((uint32_t)_i);
    for (int i = 0; i < 20; i++) {
        uint64_t node = new_object(types.node, 32, 0), in_c = block(64, 0);
        put(node + 16, in_c);
        put(in_c + 24, node);
        put(node + 24, array(1));
    }
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_CYCLE, "nobody but a cycle (Node) → (bytearray)", "");
    examined_fini(&e);
}

TEST(places_of_a_tuple_are_told, EACH_VERSION)
{
    uint64_t items[3], tuple;

    begin((uint32_t)_i);
    for (int i = 0; i < 3; i++)
        items[i] = i == 2 ? array(1) : new_text("other");
    tuple = new_tuple(items, 3);
    make_main((const char *[]){"batch"}, &tuple, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "module __main__.batch[2] (bytearray)", "__main__.batch");
    ck_assert_uint_eq(e.answers[0].paths[0].sole_bytes, e.answers[0].bytes);
    examined_fini(&e);
}

static uint64_t list_of(int n, uint32_t site)
{
    uint64_t items[20];

    for (int i = 0; i < n; i++)
        items[i] = array(site);
    return new_list(items, (size_t)n);
}

TEST(a_running_functions_variable_holds, EACH_VERSION)
{
    static const char *const names[] = {"path", "history"};
    uint64_t code, values[2];

    begin((uint32_t)_i);
    values[0] = new_text("photo.jpg");
    values[1] = list_of(20, 1);
    code = new_code("main", names, 2);
    make_main(NULL, NULL, 0);
    make_thread(code, values, 2);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "local 'history' of main()[20] (bytearray)", "main.history");
    ck_assert_uint_eq(e.answers[0].paths[0].sole_bytes, e.answers[0].bytes);
    examined_fini(&e);
}

TEST(what_a_generator_has_stopped_with_is_held, EACH_VERSION)
{
    uint64_t code, generator, values[2];

    begin((uint32_t)_i);
    values[0] = list_of(20, 1);
    values[1] = list_of(20, 2); /* on its stack, as what it loops over */
    code = new_code("batches", (const char *[]){"cache"}, 1);
    generator = new_generator(code, values, _i == 10 ? 1 : 2);
    make_main((const char *[]){"loader"}, &generator, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD,
           "module __main__.loader (generator) its local 'cache'[20] (bytearray)",
           "__main__.loader");
    if (_i == 10) /* there it is not known how much is on the stack */
        expect(1, SEEP_HOLD_REFERENCE, NULL, NULL);
    else
        expect(1, SEEP_HOLD_HELD,
               "module __main__.loader (generator) its temporary[20] (bytearray)",
               "__main__.loader");
    examined_fini(&e);
}

/* As a module's state does: in a heap below 4 GiB the first address may look like a count. */
TEST(a_block_that_begins_with_addresses_of_types_is_no_object, EACH_VERSION)
{
    uint64_t node, state;

    begin((uint32_t)_i);
    node = new_object(types.node, 32, 0);
    state = block(200, 0);
    put(node + 16, state);
    put(state, types.list);
    put(state + 8, types.array);
    put(state + 160, array(1));
    make_main((const char *[]){"cache"}, &node, 1);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "module __main__.cache (Node) → C++ (1 block) → (bytearray)",
           "__main__.cache");
    examined_fini(&e);
}

/* As CPython's arena of a script's syntax has it: {size, used, next, the address behind the head}.
 * Numbers behind the head looked like a type's, and the block like an object of it, which refers to
 * no next block. */
TEST(a_block_that_leads_to_its_own_inside_is_no_object_of_a_type_there, EACH_VERSION)
{
    uint64_t first, next, meta;

    begin((uint32_t)_i);
    first = block(32 + SEEP_PY_TYPE_BYTES, 0);
    next = block(64, 0);
    meta = block(SEEP_PY_TYPE_BYTES, 0);
    put(first, 0x2000);
    put(first + 8, 0x1ff8);
    put(first + 16, next);
    put(first + 24, first + 32);
    put(first + 32 + SEEP_PY_TYPE, meta);
    put(first + 32 + SEEP_PY_TYPE_NAME, c_text("U"));
    put(first + 32 + SEEP_PY_TYPE_BASIC, 32);
    put32(first + 32 + SEEP_PY_TYPE_FLAGS, SEEP_PY_READY | SEEP_PY_GC);
    put32(meta + SEEP_PY_TYPE_FLAGS, SEEP_PY_IS_TYPE);
    put(meta + SEEP_PY_TYPE, first);
    put(next + 16, array(1));
    put(DATA_AT + 64, first);
    make_main(NULL, NULL, 0);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "static data of python3 → C++ (2 blocks) → (bytearray)", "python3");
    examined_fini(&e);
}

/* Since 3.14: one that need not be counted has the lowest bit set, small numbers have both. */
TEST(tags_of_references_in_frames_are_known, .from = 14, .to = NEWEST + 1)
{
    static const char *const names[] = {"history", "number"};
    uint64_t code, values[2];

    begin((uint32_t)_i);
    values[0] = list_of(20, 1) | 1;
    values[1] = array(2) | 3;
    code = new_code("main", names, 2);
    make_main(NULL, NULL, 0);
    make_thread(code | 1, values, 2);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "local 'history' of main()[20] (bytearray)", "main.history");
    expect(1, SEEP_HOLD_REFERENCE, NULL, NULL);
    examined_fini(&e);
}

TEST(a_word_that_only_looks_like_a_reference_is_not_believed, EACH_VERSION)
{
    uint64_t item, list;

    begin((uint32_t)_i);
    item = array(1);
    if (_i >= 14)
        put(item, UINT64_C(1) << 48 | 1); /* there the count has flags above it */
    list = new_list(&item, 1);
    make_main((const char *[]){"one"}, &list, 1);
    put(block(64, 0), item); /* stale: the object counts one reference, and that is the list's */
    put(DATA_AT + 64, n_blocks ? blocks[n_blocks - 1].start : 0);
    examine(&e);
    ck_assert_uint_eq(e.answers[0].paths[0].sole_bytes, e.answers[0].bytes);
    examined_fini(&e);
}

TEST(without_python_a_table_of_c_is_found_by_its_words)
{
    begin(11);
    const uint64_t table = block(20 * 8, 0);
    for (int i = 0; i < 20; i++)
        put(table + (uint64_t)i * 8, block(3000, 1));
    put(DATA_AT + 128, table);
    minor = 1; /* a version that nobody knows */
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "static data of python3 → C++ (1 block)", "python3");
    examined_fini(&e);
}

/* Of a list that C has made the ways of all but one in twenty blocks have its first one in common:
 * what holds it is the variable, not the block in the middle that half of them have. */
TEST(a_list_of_c_is_held_at_its_head)
{
    uint64_t next = 0;

    begin(11);
    for (int i = 0; i < 20; i++) {
        uint64_t at = block(3000, 1);
        put(at, next);
        next = at;
    }
    put(DATA_AT + 128, next);
    minor = 1; /* a version that nobody knows */
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "static data of python3 → C++ (1 block)", "python3");
    examined_fini(&e);
}

/* Half of the blocks at each end: no one variable is their holder. */
TEST(a_variable_is_named_only_where_it_is_near, .to = 2)
{
    begin(11);
    for (int half = 0; half < 2; half++) {
        uint64_t at = block(10 * 8, 0);
        for (int i = 0; i < 10; i++)
            put(at + (uint64_t)i * 8, block(3000, 1));
        for (uint64_t i = 0, before; i < (_i ? 6 : 1); i++, at = before)
            put(before = block(64, 0), at);
        put(DATA_AT + 128 + (uint64_t)half * 32, at);
    }
    minor = 1; /* a version that nobody knows */
    examine(&e);
    ck_assert_int_eq(e.answers[0].paths[0].path.root_address == 0, _i);
    examined_fini(&e);
}

/* Objects of a library whose native parts all lead to one table of it. */
static uint64_t new_device_array(uint64_t type, uint64_t client)
{
    const uint64_t object = new_object(type, 32, 0), own = block(64, 0);

    put(object + 16, own);
    put(own + 8, client);
    return object;
}

static uint64_t new_client(size_t n)
{
    const uint64_t client = block(64, 0), table = block(n * 8, 0);

    put(client + 8, table);
    for (size_t i = 0; i < n; i++)
        put(table + i * 8, block(3000, 1));
    return client;
}

/* What a runtime keeps is no variable's, though each of them leads there. _i of 5 do. */
TEST(what_unrelated_variables_lead_to_is_none_of_theirs, .from = 1, .to = 6)
{
    static const char *const names[] = {"a", "b", "c", "d", "e"};
    uint64_t values[5], client, type;

    begin(12);
    type = new_type("Array", 0, 32);
    client = new_client(20);
    for (int i = 0; i < _i; i++)
        values[i] = new_device_array(type, client);
    make_main(names, values, (size_t)_i);
    examine(&e);
    const struct seep_answer_path *p = &e.answers[0].paths[0];
    ck_assert_int_eq(p->path.shared, _i == 5);
    if (p->path.shared)
        expect(0, SEEP_HOLD_HELD, "what __main__.a shares with other objects → C++ (2 blocks)", "");
    else
        ck_assert_str_eq(p->holder_name, "__main__.a");
    ck_assert_int_eq(p->sole_known, !p->path.shared);
    examined_fini(&e);
}

/* One of them, and static data of the library. */
TEST(what_a_library_refers_to_itself_is_no_variables)
{
    uint64_t value, client;

    begin(12);
    client = new_client(20);
    value = new_device_array(new_type("Array", 0, 32), client);
    put(LIBRARY_AT + 128, client);
    make_main((const char *[]){"device"}, &value, 1);
    examine(&e);
    ck_assert_uint_ge(e.answers[0].n_paths, 1);
    ck_assert_str_ne(e.answers[0].paths[0].holder_name, "__main__.device");
    examined_fini(&e);
}

/* A list of them is one variable. */
TEST(what_the_items_of_one_list_lead_to_is_the_lists)
{
    uint64_t items[8], list, client, type;

    begin(12);
    type = new_type("Array", 0, 32);
    client = new_client(20);
    for (int i = 0; i < 8; i++)
        items[i] = new_device_array(type, client);
    list = new_list(items, 8);
    make_main((const char *[]){"kept"}, &list, 1);
    examine(&e);
    ck_assert(!e.answers[0].paths[0].path.shared);
    ck_assert_str_eq(e.answers[0].paths[0].holder_name, "__main__.kept");
    examined_fini(&e);
}

/* The table of a class whose mangled name is `name`. */
static uint64_t new_vtable(const char *name)
{
    uint64_t info = static_bytes(16), table = static_bytes(32) + 16;

    put(info + 8, c_text(name));
    put(table - 8, info);
    return table;
}

/* Two owners or none of what std::shared_ptr owns, and a stale address of it. `behind`: how far
 * behind its count it lies in one block, 0: the count has a block of its own. */
static void make_shared_object(uint64_t behind, bool owned)
{
    uint64_t object = block(200 + behind, 1) + behind, owners = block(64, 0);
    uint64_t count = behind ? object - behind : block(32, 0);

    put(object, new_vtable("4Node"));
    put(object + 8, object);
    put(object + 16, count);
    put(owners + 8, object);
    put(owners + 16, owned ? count : 0);
    put(DATA_AT + 128, owners);
    put(DATA_AT + 160, object);
}

TEST(who_shares_an_object_of_cpp_has_its_count_too, .to = 2)
{
    begin(11);
    make_shared_object(_i ? 16 : 0, true);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "static data of python3 → C++ (1 block)", "python3");
    examined_fini(&e);
    begin(11);
    make_shared_object(_i ? 16 : 0, false);
    examine(&e);
    expect(0, SEEP_HOLD_LOST, NULL, NULL);
    examined_fini(&e);
}

TEST(behind_the_device_of_a_storage_lies_nothing)
{
    enum { DATA = 24, DEVICE = 48 };
    uint64_t storage, kept;

    begin(11);
    storage = block(80, 0);
    put(storage, new_vtable("N3c1011StorageImplE"));
    put(storage + DATA, block(3000, 1));
    kept = block(3000, 2);
    put(storage + DEVICE, kept); /* what lay there before */
    put(DATA_AT + 128, storage);
    examine(&e);
    expect(0, SEEP_HOLD_HELD, "static data of python3 → C++ c10::StorageImpl", "python3");
    expect(1, SEEP_HOLD_LOST, NULL, NULL);
    examined_fini(&e);
}

/* Words at random, many of them addresses of one another: all of it must end, and stay inside. */
TEST(no_heap_can_harm_its_reader, .to = 60)
{
    uint64_t items[8], list;
    uint32_t seed = (uint32_t)_i * 2654435761u + 1;

    begin((uint32_t)(OLDEST + _i % (NEWEST + 1 - OLDEST)));
    for (int i = 0; i < 8; i++)
        items[i] = array(1);
    list = new_list(items, 8);
    make_main((const char *[]){"history"}, &list, 1);
    for (int i = 0; i < 200; i++)
        (void)block(16 + (size_t)i * 8, 1 + (uint32_t)i % 2);
    for (int i = 0; i < 3000; i++) {
        seed = seed * 1664525 + 1013904223;
        uint64_t where = seed % 4 ? HEAP_AT + 4096 + (seed >> 4) % heap_used
                                  : DATA_AT + 4096 + (seed >> 4) % data_used;
        seed = seed * 1664525 + 1013904223;
        uint64_t to = blocks[(seed >> 8) % n_blocks].start + (seed & 3) * 16;
        static const uint64_t odd[] = {0, 1, UINT64_MAX, INT64_MAX, 1ull << 40, 0xffffffff, 8};
        put(where & ~UINT64_C(7), seed % 3 ? to : odd[(seed >> 5) % N(odd)]);
    }
    examine(&e);
    examined_fini(&e);
}

SUITE("answer")
