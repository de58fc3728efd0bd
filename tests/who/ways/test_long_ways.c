/* Linked lists: paths of many thousand nodes. What is printed of them is worked out once for each
 * node, and a path begins at its root, however far that is. */
#include "libprof/who/survey/survey.h"
#include "libprof/who/ways/ways.h"
#include "tests/who/ways/heap_fixture.h"

enum { LONG = 9000, NEXT = 16, KEPT = 24, LINK_BYTES = 32, MEMBER_BYTES = 40 };

static struct examined e;

/* Objects with two slots: the next one, and what each keeps. */
static uint64_t link_type(void)
{
    enum { OBJECT_EX = 16 };
    static const char *const names[] = {"next", "x"};
    uint64_t type = new_type("Link", SEEP_PY_HEAP_TYPE | SEEP_PY_GC, LINK_BYTES);
    uint64_t members = static_bytes(3 * MEMBER_BYTES);

    for (uint64_t i = 0; i < 2; i++) {
        put(members + i * MEMBER_BYTES, c_text(names[i]));
        put(members + i * MEMBER_BYTES + 8, OBJECT_EX);
        put(members + i * MEMBER_BYTES + 16, NEXT + i * 8);
    }
    put(type + SEEP_PY_TYPE_MEMBERS, members);
    return type;
}

/* `n` objects, each of which refers to the one made before it and keeps bytes of line 1. Returns
 * the last. */
static uint64_t linked_list(size_t n)
{
    uint64_t type = link_type(), last = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t link = new_object(type, LINK_BYTES, 0);
        put(link + NEXT, last);
        put(link + KEPT, new_object(types.array, 100, 1));
        last = link;
    }
    return last;
}

/* Blocks of C, each with the address of the one made before it; of line 1, all of them. */
static uint64_t linked_blocks(size_t n)
{
    uint64_t last = 0;

    for (size_t i = 0; i < n; i++) {
        uint64_t one = block(48, 1);
        put(one, last);
        last = one;
    }
    return last;
}

static void expect(const char *text, const char *holder)
{
    const struct seep_answer_path *first = &e.answers[0].paths[0];
    char *got = seep_path_text(&first->path);

    ck_assert_int_ge(e.n, 1);
    ck_assert_str_eq(seep_hold_state_word(e.answers[0].state), "held");
    ck_assert_str_eq(got, text);
    free(got);
    ck_assert_str_eq(first->holder_name, holder);
    ck_assert_uint_ge(first->sole_bytes, e.answers[0].bytes / 10 * 9);
}

TEST(a_long_list_of_objects_is_held_by_its_variable, EACH_VERSION)
{
    static const char *const names[] = {"head"};
    uint64_t head, code;

    begin((uint32_t)_i);
    head = linked_list(LONG);
    code = new_code("main", names, 1);
    make_main(NULL, NULL, 0);
    make_thread(code, &head, 1);
    examine(&e);
    expect("local 'head' of main() (Link).next… (Link).x (bytearray)", "main.head");
    examined_fini(&e);
}

TEST(a_long_list_of_c_is_held_by_its_variable)
{
    begin(11);
    put(DATA_AT + 128, linked_blocks(LONG));
    minor = 1; /* a version that nobody knows: no Python */
    examine(&e);
    ck_assert_str_eq(e.answers[0].paths[0].path.root_name, "python3");
    ck_assert_uint_ge(e.answers[0].paths[0].sole_bytes, e.answers[0].bytes / 10 * 9);
    examined_fini(&e);
}

/* How many nodes are walked, and how many bytes edges take, to answer for a list of n objects. */
static struct work {
    size_t nodes, walks, edge_bytes;
} work_for(size_t n)
{
    static const char *const names[] = {"kept"};
    static uint64_t items[LONG];
    struct work work;
    uint64_t list;

    begin(11);
    for (size_t i = 0; i < n; i++)
        items[i] = new_object(types.array, 100, 1 + i % 2);
    list = new_list(items, n);
    make_main(names, &list, 1);
    examine(&e);
    ck_assert_int_eq(e.n, 2);
    work = (struct work){e.heap.n_nodes, e.reach.n_walked, e.heap.survey->edges.n};
    examined_fini(&e);
    return work;
}

/* One search finds all; without the holder only what it led to is searched again. */
TEST(twice_the_objects_are_twice_the_work)
{
    const struct work once = work_for(LONG / 2), twice = work_for(LONG);

    ck_assert_uint_le(twice.walks, 2 * once.walks);
    ck_assert_uint_le(twice.edge_bytes, 2 * once.edge_bytes + once.edge_bytes / 50);
    ck_assert_uint_le(twice.walks, twice.nodes + twice.nodes / 10);
}

/* What it costs to tell all ways of a list, in steps from a node to its parent. */
static size_t steps_for(size_t n, bool python)
{
    static const char *const names[] = {"head"};
    struct seep_ways ways;
    uint64_t head;

    begin(11);
    head = python ? linked_list(n) : linked_blocks(n);
    make_main(names, &head, 1);
    if (!python)
        put(DATA_AT + 128, head);
    open_heap(&e);
    ck_assert_int_eq(seep_reach_run(&e.reach), 0);
    ck_assert_int_eq(seep_ways_init(&ways, &e.reach), 0);
    uint32_t marked = seep_heap_find(&e.heap, head);
    seep_ways_mark(&ways, marked, 1);
    for (uint32_t i = 0; i < e.heap.n_blocks; i++) {
        if (e.reach.distance[i] == SEEP_UNREACHED)
            continue;
        (void)seep_ways_hash(&ways, i);
        (void)seep_ways_marked(&ways, i);
    }
    ck_assert(!ways.no_memory);
    size_t steps = ways.n_steps, nodes = 3 * e.heap.n_blocks;
    ck_assert_uint_gt(steps, n); /* it was done at all */
    ck_assert_uint_lt(steps, nodes);
    seep_ways_fini(&ways);
    examined_fini(&e);
    return steps;
}

TEST(a_list_ten_times_as_long_costs_ten_times_as_much, .to = 2)
{
    size_t few = steps_for(LONG / 10, _i), many = steps_for(LONG, _i);

    ck_assert_uint_lt(many, 11 * few);
}

/* Ways that differ in places of a list only are one; marks go down to what is reached. */
TEST(ways_are_told_apart_by_names_alone, EACH_VERSION)
{
    static const char *const names[] = {"one", "other"};
    uint64_t items[3], lists[2];
    struct seep_ways ways;
    uint32_t nodes[3];

    begin((uint32_t)_i);
    for (int i = 0; i < 3; i++)
        items[i] = new_object(types.array, 100, 1);
    lists[0] = new_list(items, 2);
    lists[1] = new_list(items + 2, 1);
    make_main(names, lists, 2);
    open_heap(&e);
    ck_assert_int_eq(seep_reach_run(&e.reach), 0);
    ck_assert_int_eq(seep_ways_init(&ways, &e.reach), 0);
    for (int i = 0; i < 3; i++)
        nodes[i] = seep_heap_find(&e.heap, items[i]);
    ck_assert_uint_eq(seep_ways_hash(&ways, nodes[0]), seep_ways_hash(&ways, nodes[1]));
    ck_assert_uint_ne(seep_ways_hash(&ways, nodes[0]), seep_ways_hash(&ways, nodes[2]));
    seep_ways_mark(&ways, seep_heap_find(&e.heap, lists[0]), 7);
    ck_assert_uint_eq(seep_ways_marked(&ways, nodes[0]), 7);
    ck_assert_uint_eq(seep_ways_marked(&ways, nodes[1]), 7);
    ck_assert_uint_eq(seep_ways_marked(&ways, nodes[2]), 0);
    seep_ways_unmark(&ways);
    ck_assert_uint_eq(seep_ways_marked(&ways, nodes[0]), 0);
    seep_ways_fini(&ways);
    examined_fini(&e);
}

SUITE("long ways")
