/* The main loop, found by how far iterators have come. */
#include "tests/steps/loop_fixture.h"

/* Loops whose iterators have come that far are looked at. */
static void look_at(const struct seep_pyloop *items, unsigned n)
{
    const struct seep_pyframe stack[] = {{LIBRARY, 3}, {MAIN, 7}, {MODULE, 5}};
    const uint32_t rounds = seep_loops_main_items(&loops, items, n);
    bool any = false;
    if (!loops.main.code || seep_loops_unsettled(&loops, clock_ns))
        any = seep_loops_items(&loops, &stack[2], items, n, kind_of, clock_ns);
    seep_loops_keep_items(&loops, items, n);
    if (any && seep_loops_choose(&loops, &rule, clock_ns)) {
        n_found++;
    } else if (rounds) {
        seep_loops_main_iterated(&loops, rounds, clock_ns);
        n_iterations += rounds;
    }
}

/* Those of the module's frame and of MAIN's; `again`: they are others than before. */
static void look(intptr_t module_place, intptr_t main_place, uintptr_t again)
{
    const struct seep_pyloop items[] = {
        {.path = 1, .code = MODULE, .iterator = 0x100, .place = module_place, .depth = 0},
        {.path = 2,
         .code = MAIN,
         .position = 7,
         .iterator = 0x200 + again,
         .place = main_place,
         .depth = 1},
    };
    look_at(items, main_place ? 2 : 1);
}

TEST(a_loop_of_one_call_is_seen_by_its_items)
{
    for (int i = 1; i <= 300; i++) {
        EVENT(10, MAIN, 10);
        look(i, 0, 0);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert(loops.main.items);
    ck_assert_uint_ge(loops.main.n, 298);
}

TEST(several_rounds_may_pass_between_two_looks)
{
    for (int i = 1; i <= 600; i++) {
        EVENT(4, MAIN, 10);
        if (i % 3 == 0 || (i > 60 && i < 70))
            look(100 + i, 0, 0);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_ge(loops.main.n, 597);
    ck_assert_uint_le(loops.main.n, 600);
}

/* Each call of the library's is a round of the user's loop, and nothing of that one's own. */
TEST(a_loop_around_one_call_of_a_library_takes_over_from_the_librarys)
{
    for (int i = 1; i <= 60; i++)
        for (int k = 0; k < 20; k++) {
            EVENT(10, MAIN, 7, LIBRARY, 3);
            EVENT(0, MAIN, 7, LIBRARY, 9);
            look(i, 0, 0);
        }
    ck_assert_uint_eq(loops.main.code, MODULE);
    ck_assert(loops.main.items);
    ck_assert_uint_ge(loops.main.n, 60 - 2);
}

TEST(a_loop_of_items_that_begins_anew_has_ended_a_round)
{
    for (int i = 0; i < 20; i++)
        for (int k = 1; k <= 30; k++) {
            EVENT(5, MAIN, 7);
            look(1, k, (uintptr_t)i);
        }
    ck_assert_uint_eq(loops.main.code, MAIN);
    ck_assert_uint_ge(loops.main.n, 20 * 30 - 3);
}

/* It might be a detail of what the other does. */
TEST(loops_that_their_places_show_go_before_those_of_items)
{
    for (int i = 0; i < 100; i++) {
        EVENT(5, MAIN, 5);
        for (int k = 1; k <= 12; k++) {
            EVENT(5, MAIN, 7);
            look(1, k, (uintptr_t)i);
        }
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert(!loops.main.items);
    ck_assert_int_eq(loops.main.begin, 5);
}

/* Tries within a step, each time by an iterator where the last one was. The step's own loop tells
 * by its items that all of its rounds were seen. */
TEST(a_loop_within_a_step_is_none_of_its_rounds)
{
    for (int i = 1; i <= 200; i++) {
        EVENT(1, MAIN, 5);
        for (int k = 1; k <= 6; k++) {
            const struct seep_pyloop items[] = {
                {.path = 2, .code = MAIN, .iterator = 0x200, .place = i, .depth = 1},
                {.path = 3, .code = MAIN, .iterator = 0x300, .place = k, .depth = 1},
            };
            EVENT_US(400, MAIN, 7);
            look_at(items, 2);
        }
        EVENT(1, MAIN, 9);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert(!loops.main.items);
    ck_assert_int_eq(loops.main.begin, 5);
}

/* Three tries a step, as a line search makes: they are so short that one of them is read. */
static void search_lines(bool in_for_loop, uint64_t path)
{
    for (int i = 1; i <= 200; i++) {
        struct seep_pyloop items[] = {
            {.path = path, .code = MAIN, .iterator = 0x200, .place = i, .depth = 1},
            {.path = path + in_for_loop,
             .code = MAIN,
             .position = 7,
             .iterator = 0x300 + (uintptr_t)i % 2,
             .place = 2,
             .depth = 1},
        };
        EVENT(1, MAIN, 5);
        items[0].position = 5;
        if (i % 8 == 0)
            look_at(items, in_for_loop);
        EVENT(1, MAIN, 7);
        EVENT(1, MAIN, 7);
        items[0].position = 7;
        look_at(in_for_loop ? items : items + 1, 1 + in_for_loop);
        EVENT(1, MAIN, 7);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_int_eq(loops.main.begin, 5);
}

/* Where a loop is kept depends on its path. */
TEST(what_is_read_as_often_as_a_step_within_it_is_not_taken_for_it)
{
    for (uint64_t path = 100; path < 140; path++) {
        begin();
        search_lines(true, path);
        ck_assert_uint_eq(loops.main_path, path);
        begin();
        search_lines(false, path);
        ck_assert_uint_eq(loops.main_path, 0);
    }
}

/* A list is appended to, and grows in one round of eight. */
TEST(rounds_in_which_no_place_goes_back_count_too)
{
    for (int i = 1; i <= 400; i++) {
        EVENT(8, MAIN, 7, HELPER, i % 8);
        if (i % 8 == 0)
            EVENT(0, MAIN, 9);
        look(1, i, 0);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert(loops.main.items);
    ck_assert_uint_ge(loops.main.n, 400 - 4);
}

/* How far the one loop of MAIN has come, at a place in it. */
static void look_at_main(uintptr_t iterator, intptr_t place, uintptr_t position)
{
    const struct seep_pyloop item = {.path = 2,
                                     .code = MAIN,
                                     .iterator = iterator,
                                     .place = place,
                                     .position = position,
                                     .depth = 1};
    look_at(&item, 1);
}

/* A number is made at its head in one round of 256: those are no rounds of five milliseconds. */
TEST(a_loop_that_fills_a_list_is_none_where_its_place_shows_it_now_and_then)
{
    for (int i = 1; i <= 40000; i++) {
        EVENT_US(20, MAIN, 7);
        if (i % 256 == 0)
            EVENT(0, MAIN, 5);
        if (i % 16 == 0)
            look_at_main(0x200, i, 7);
    }
    ck_assert_uint_eq(n_found, 0);
}

/* As L-BFGS does, in a while loop: its rounds are the steps, however short those within are. */
TEST(a_loop_that_fills_a_list_within_each_round_does_not_hide_the_one_around_it)
{
    for (int i = 1; i <= 200; i++) {
        EVENT(6, MAIN, 5);
        for (int k = 1; k <= 100; k++) {
            EVENT_US(20, MAIN, k % 8 ? 8 : 7);
            if (k % 10 == 1)
                look_at_main(0x200, k, 8);
        }
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_int_eq(loops.main.begin, 5);
    ck_assert_uint_ge(loops.main.n, 200 - 2);
}

TEST(loops_that_follow_each_other_are_two)
{
    for (int i = 1; i <= 8000; i++) {
        EVENT_US(20, MAIN, 7);
        if (i % 16 == 0)
            look_at_main(0x200, i, 7);
    }
    for (int i = 1; i <= 100; i++) {
        EVENT(20, MAIN, 12);
        look_at_main(0x300, i, 12);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_ge(loops.main.n, 98);
    ck_assert_uint_le(loops.main.n, 100);
}

TEST(laps_before_the_loop_was_noticed_are_known)
{
    for (int epoch = 1; epoch <= 30; epoch++)
        for (int k = 1; k <= 8; k++) {
            loops.period = (uint32_t)epoch;
            EVENT(2, MAIN, 7);
            look(epoch, k, (uintptr_t)epoch);
            EVENT(8, MAIN, 9);
        }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_eq(loops.main.code, MAIN);
    ck_assert_uint_eq(loops.around.code, MODULE);
    ck_assert_uint_ge(loops.around.n, 2);
    ck_assert_uint_le(loops.around.n, 4);
    ck_assert_uint_eq(loops.around.marks[0].period, 2);
    ck_assert_uint_eq(loops.around.marks[1].period, 3);
}

/* Nothing of the step's own loop is seen but its items: what lies between two steps is no round of
 * the one within. */
TEST(what_is_repeated_within_each_step_is_left_with_it)
{
    for (int i = 1; i <= 120; i++)
        for (int k = 0; k < 128; k++) {
            EVENT_US(k ? 10 : 40000, MAIN, k % 16 ? 10 : 12);
            if (!k)
                look(i, 0, 0);
        }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_eq(loops.main.code, MODULE);
    ck_assert_uint_eq(loops.main.n, 119);
}

/* The same around a while loop, which shows nothing. */
TEST(a_for_loop_that_starts_again_was_left)
{
    for (int i = 1; i <= 120; i++)
        for (int k = 1; k <= 128; k++) {
            if (k == 1)
                look(0, k, (uintptr_t)i);
            EVENT_US(k > 1 ? 10 : 40000, MAIN, k % 2 ? 10 : 12);
        }
    ck_assert_uint_eq(n_found, 0);
}

/* Rounds of a while loop are so short that the for loop within them is read in the longest alone:
 * it is known to have begun anew in one of three. */
TEST(a_loop_around_one_that_began_more_often_than_was_read_was_not_left)
{
    for (int i = 1; i <= 6000; i++) {
        EVENT_US(10, MAIN, 5);
        for (int k = 1; k <= (i % 3 ? 2 : 8); k++) {
            EVENT_US(20, MAIN, k % 2 ? 8 : 9);
            if (k == 7)
                look_at_main(0x200 + (uintptr_t)i % 2, k, 8);
        }
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_int_eq(loops.main.begin, 5);
    ck_assert_uint_ge(loops.main.n, 6000 - 2);
}

/* Of a loop that allocates for so many rounds, by places as by items. */
static void a_loop_by_places(int rounds)
{
    for (int i = 1; i <= rounds; i++) {
        EVENT(2, MAIN, 7);
        look(0, i, 0);
        EVENT(8, MAIN, 9);
    }
}

TEST(rounds_that_allocate_nothing_show_in_the_iterator)
{
    for (int i = 1; i <= 60; i++) {
        EVENT(20, MAIN, 10);
        look(i, 0, 0);
    }
    ck_assert(seep_loops_main_goes_on(&loops, loops.items, loops.n_items));
    ck_assert(loops.main.items);
    ck_assert_uint_eq(seep_loops_unseen(&loops, 60, loops.main.n, 200), 140);
    ck_assert_uint_eq(seep_loops_unseen(&loops, 60, loops.main.n, 60), 0);
    ck_assert_uint_eq(seep_loops_unseen(&loops, 60, loops.main.n, 10), 0);
    ck_assert_uint_eq(seep_loops_unseen(&loops, 0, loops.main.n, 200), 0);
}

TEST(rounds_seen_by_places_are_not_counted_again)
{
    a_loop_by_places(60);
    ck_assert(loops.main.code && !loops.main.items);
    ck_assert(seep_loops_main_goes_on(&loops, loops.items, loops.n_items));
    const uint32_t n = loops.main.n;
    a_loop_by_places(20);
    ck_assert_uint_eq(seep_loops_unseen(&loops, 60, n, 80), 0);
    ck_assert_uint_eq(seep_loops_unseen(&loops, 60, n, 81), 0); /* the current one may yet show */
    ck_assert_uint_eq(seep_loops_unseen(&loops, 60, n, 200), 119);
}

TEST(a_loop_that_begins_anew_does_not_go_on)
{
    a_loop_by_places(60);
    struct seep_pyloop items[SEEP_PYLOOPS];
    memcpy(items, loops.items, sizeof items);
    const size_t at = (size_t)(seep_loops_main_item(&loops) - loops.items);
    items[at].place++;
    ck_assert(seep_loops_main_goes_on(&loops, items, loops.n_items));
    items[at].place = 1;
    ck_assert(!seep_loops_main_goes_on(&loops, items, loops.n_items));
    ck_assert(!seep_loops_main_goes_on(&loops, items, 0));
}

/* In each round of a loop around both, with its path. */
TEST(a_loop_that_follows_or_precedes_the_main_loop_is_not_taken_for_it)
{
    for (int i = 1; i <= 20; i++) {
        for (int k = 1; k <= 4; k++) {
            EVENT(1, MAIN, 4);
            look_at_main(0x400 + (uintptr_t)i % 2, k, 4);
        }
        for (int k = 1; k <= 40; k++) {
            EVENT(5, MAIN, 7);
            look_at_main(0x200 + (uintptr_t)i % 2, k, 7);
            EVENT(5, MAIN, 9);
        }
        for (int k = 1; k <= 4; k++) {
            EVENT(1, MAIN, 12);
            look_at_main(0x300 + (uintptr_t)i % 2, k, 12);
        }
    }
    ck_assert_int_eq(loops.main.begin, 7);
    ck_assert(loops.main_path);
    look_at_main(0x200, 3, 7);
    ck_assert(seep_loops_main_item(&loops));
    look_at_main(0x300, 3, 12);
    ck_assert(!seep_loops_main_item(&loops));
    look_at_main(0x400, 3, 4);
    ck_assert(!seep_loops_main_item(&loops));
}

SUITE("the main loop by its items", .setup = begin)
