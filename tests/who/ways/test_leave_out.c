/* What is still reachable without a node is the same, however it is found. */
#include "libprof/who/ways/reach_passes.h"
#include "tests/who/ways/heap_fixture.h"

enum { LISTS = 40, EACH = 3, SEEDS = 20 };

static struct examined part, whole;

/* Lists that refer to each other as chance has it; two of them are variables. */
static void make_web(uint32_t seed, uint64_t *lists)
{
    uint64_t none[EACH] = {0}, items;

    begin(OLDEST + seed % (NEWEST + 1 - OLDEST));
    for (int i = 0; i < LISTS; i++)
        lists[i] = new_list(none, EACH);
    for (int i = 0; i < LISTS; i++) {
        memcpy(&items, at(lists[i] + SEEP_PY_LIST_ITEMS), sizeof items);
        for (uint64_t k = 0; k < EACH; k++) {
            seed = seed * 1664525 + 1013904223;
            uint64_t to = lists[(seed >> 16) % LISTS];
            put(items + 8 * k, to);
        }
    }
    make_main((const char *[]){"one", "other"}, (uint64_t[]){lists[0], lists[1]}, 2);
}

static void leave_out(struct examined *e, uint64_t list)
{
    uint32_t node = seep_heap_find(&e->heap, list);

    ck_assert_uint_ne(node, SEEP_NODE_NONE);
    for (size_t i = 0; i < SEEP_REACH_EXCLUDED; i++)
        if (e->reach.excluded[i] == SEEP_NODE_NONE) {
            e->reach.excluded[i] = node;
            return;
        }
}

TEST(what_is_left_is_what_a_search_of_the_whole_heap_finds, .from = 0, .to = SEEDS)
{
    uint64_t lists[LISTS];

    make_web((uint32_t)_i, lists);
    open_heap(&part);
    ck_assert_int_eq(seep_reach_run(&part.reach), 0);
    for (int left_out = 0; left_out < 3; left_out++) {
        leave_out(&part, lists[left_out * 2]);
        ck_assert_int_eq(seep_reach_leave_out(&part.reach, part.reach.excluded[left_out]), 0);
        open_heap(&whole);
        for (int i = 0; i <= left_out; i++)
            leave_out(&whole, lists[i * 2]);
        ck_assert_int_eq(seep_reach_run(&whole.reach), 0);
        ck_assert_mem_eq(part.reach.distance, whole.reach.distance,
                         part.heap.n_nodes * sizeof *part.reach.distance);
        examined_fini(&whole);
    }
    examined_fini(&part);
}

SUITE("leave out")
