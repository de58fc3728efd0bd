/* Who retains small objects, found in a made-up heap. */
#include "libprof/who/find/small_objects.h"
#include "tests/who/ways/heap_fixture.h"

enum { LINE = 3, SMALL = 9, ENTRIES = 4000, ENTRY = 48 };

static struct examined e;
static struct seep_small_objects small;

static void close_it(void)
{
    seep_small_objects_fini(&small);
    examined_fini(&e);
}

static void find(void)
{
    open_heap(&e);
    ck_assert_int_eq(seep_reach_run(&e.reach), 0);
    ck_assert_int_eq(seep_inner_find(&e.reach), 0);
    ck_assert_int_eq(seep_small_objects_find(&small, &e.reach, SMALL, true), 0);
}

static uint64_t new_node(uint64_t field, uint32_t site)
{
    const uint64_t node = new_object(types.node, 32, site);

    put(node + 16, field);
    return node;
}

/* A list of n objects, whose table a line made. */
static uint64_t list_of_small(size_t n, uint32_t site)
{
    static uint64_t items[ENTRIES];

    for (size_t i = 0; i < n; i++)
        items[i] = new_node(0, site);
    const uint64_t list = new_list(items, n);
    blocks[n_blocks - 1].site = LINE;
    return list;
}

static const struct seep_small_holder *named(const char *name)
{
    for (size_t i = 0; i < small.n; i++)
        if (strcmp(small.list[i].path.holder_name, name) == 0)
            return &small.list[i];
    ck_abort_msg("nothing is held by %s", name);
}

TEST(a_list_of_them_is_told_with_the_line_that_enlarged_it, EACH_VERSION)
{
    const char *const names[] = {"records", "others"};
    uint64_t variables[2];

    begin((uint32_t)_i);
    variables[0] = list_of_small(ENTRIES, SMALL);
    variables[1] = list_of_small(ENTRIES, 1); /* blocks of malloc */
    make_main(names, variables, 2);
    find();
    ck_assert_uint_eq(small.bytes, ENTRIES * ENTRY);
    ck_assert_uint_eq(small.blocks, ENTRIES);
    ck_assert_uint_eq(small.n, 1);
    const struct seep_small_holder *records = named("__main__.records");
    ck_assert_uint_eq(records->path.bytes, ENTRIES * ENTRY);
    ck_assert_uint_eq(records->path.blocks, ENTRIES);
    ck_assert_int_eq(records->path.holder_length, ENTRIES);
    ck_assert_str_eq(records->path.holder_type, "list");
    ck_assert_uint_eq(records->table, LINE);
}

/* A linked list is held at its head, and is no container. */
TEST(what_is_no_container_has_no_length, EACH_VERSION)
{
    const char *const names[] = {"root"};
    uint64_t node = 0;

    begin((uint32_t)_i);
    for (size_t i = 0; i < ENTRIES; i++)
        node = new_node(node, SMALL);
    make_main(names, &node, 1);
    find();
    const struct seep_small_holder *root = named("__main__.root");
    ck_assert_uint_eq(root->path.bytes, ENTRIES * ENTRY);
    ck_assert_uint_eq(root->path.blocks, ENTRIES);
    ck_assert_int_eq(root->path.holder_length, -1);
    ck_assert_uint_eq(root->table, 0);
}

/* What two lists share neither retains, and nobody is named. */
TEST(what_two_hold_is_retained_by_neither)
{
    const char *const names[] = {"first", "second"};
    static uint64_t items[ENTRIES];
    uint64_t variables[2];

    begin(11);
    for (size_t i = 0; i < ENTRIES; i++)
        items[i] = new_node(0, SMALL);
    variables[0] = new_list(items, ENTRIES);
    variables[1] = new_list(items, ENTRIES);
    make_main(names, variables, 2);
    find();
    ck_assert_uint_eq(small.bytes, ENTRIES * ENTRY);
    ck_assert_uint_eq(small.n, 0);
}

TEST(little_is_not_told)
{
    const char *const names[] = {"records"};
    uint64_t list;

    begin(11);
    list = list_of_small(1000, SMALL);
    make_main(names, &list, 1);
    find();
    ck_assert_uint_eq(small.blocks, 1000);
    ck_assert_uint_eq(small.n, 0);
}

SUITE("who holds small objects", NULL, close_it);
