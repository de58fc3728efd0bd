/* Who retains small objects, found in a made-up heap. */
#include "libprof/who/find/small_objects.h"
#include "libprof/who/ways/reach_passes.h"
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

static void find_unheld(void)
{
    find();
    ck_assert_int_eq(seep_cycles_find(&e.reach), 0);
    ck_assert_int_eq(seep_references_find(&e.reach), 0);
    ck_assert_int_eq(seep_small_objects_add_unheld(&small, &e.reach, SMALL, true), 0);
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

static void is_unheld(const struct seep_small_holder *one, enum seep_root_kind kind)
{
    ck_assert_int_eq(one->path.path.root.kind, kind);
    ck_assert_uint_eq(one->path.blocks, ENTRIES);
    ck_assert_uint_eq(one->path.bytes, ENTRIES * ENTRY);
    ck_assert(!one->path.sole_known);
    ck_assert_int_eq(one->path.holder_length, -1);
    ck_assert_str_eq(one->path.path.hops[0].type, "Node");
}

/* An extension took references to them and never gave them back. */
TEST(what_no_root_reaches_is_told_behind_what_is_held, EACH_VERSION)
{
    const char *const names[] = {"records"};
    uint64_t list;

    begin((uint32_t)_i);
    list = list_of_small(ENTRIES, SMALL);
    for (size_t i = 0; i < ENTRIES; i++)
        (void)new_node(0, SMALL);
    make_main(names, &list, 1);
    find_unheld();
    ck_assert_uint_eq(small.bytes, 2 * ENTRIES * ENTRY);
    ck_assert_uint_eq(small.n, 2);
    ck_assert_str_eq(small.list[0].path.holder_name, "__main__.records");
    is_unheld(&small.list[1], SEEP_ROOT_REFERENCE);
}

TEST(what_only_cycles_hold_is_told_apart, EACH_VERSION)
{
    begin((uint32_t)_i);
    for (size_t i = 0; i < ENTRIES / 2; i++) {
        const uint64_t first = new_node(0, SMALL);
        put(first + 16, new_node(first, SMALL));
    }
    make_main(NULL, NULL, 0);
    find_unheld();
    ck_assert_uint_eq(small.n, 1);
    is_unheld(&small.list[0], SEEP_ROOT_CYCLE);
}

/* Its count says that it never dies. */
TEST(what_counts_nobody_and_has_no_holder_is_lost)
{
    begin(12);
    for (size_t i = 0; i < ENTRIES; i++)
        put(new_node(0, SMALL), UINT64_C(0xffffffff));
    make_main(NULL, NULL, 0);
    find_unheld();
    ck_assert_uint_eq(small.n, 1);
    is_unheld(&small.list[0], SEEP_ROOT_NOBODY);
}

TEST(a_little_that_nobody_holds_is_not_told)
{
    begin(11);
    for (size_t i = 0; i < 1000; i++)
        (void)new_node(0, SMALL);
    make_main(NULL, NULL, 0);
    find_unheld();
    ck_assert_uint_eq(small.n, 0);
}

SUITE("who holds small objects", NULL, close_it);
