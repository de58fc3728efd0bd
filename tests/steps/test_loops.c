/* The main loop, found by made-up stacks. */
#include <check.h>
#include <string.h>

#include "preload/steps/loops.h"
#include "tests/suite.h"

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

enum { MODULE = 0x1000, MAIN = 0x2000, HELPER = 0x3000, LIBRARY = 0x8000, FORWARD = 0x9000 };

static struct seep_loops loops;
static struct seep_loop_rule rule;
static uint64_t clock_ns;
static unsigned n_iterations, n_found;

static uint64_t now_ns(void)
{
    return clock_ns;
}

static void begin(void)
{
    memset(&loops, 0, sizeof(loops));
    rule = (struct seep_loop_rule){.watch_ns = 250 * MS, .share = 0.5, .busy = true};
    clock_ns = SECOND;
    n_iterations = n_found = 0;
}

static enum seep_loop_kind kind_of(const struct seep_pyframe *outermost, unsigned depth)
{
    enum seep_loop_kind kind = SEEP_LOOP_USER;
    for (unsigned i = 0; i <= depth && kind != SEEP_LOOP_CALLED; i++) {
        uintptr_t code = (outermost - i)->code;
        kind = code == LIBRARY   ? SEEP_LOOP_LIBRARY
               : code == FORWARD ? SEEP_LOOP_CALLED
                                 : SEEP_LOOP_USER;
    }
    return kind;
}

/* An event, so long after the one before, in the module's frame at place 5, and in those that
 * are given from the outermost to the innermost: code, place, …, 0. */
static void event_us(uint64_t after_us, const intptr_t *frames)
{
    struct seep_pyframe stack[20];
    unsigned n = 0, top = N(stack) - 1;
    stack[top - n++] = (struct seep_pyframe){MODULE, 5};
    for (; *frames; frames += 2)
        stack[top - n++] = (struct seep_pyframe){(uintptr_t)frames[0], (uintptr_t)frames[1]};
    clock_ns += after_us * 1000;
    bool iterated = loops.main.code && seep_loops_main_event(&loops, &stack[top], n);
    if (!loops.main.code || seep_loops_silent(&loops, clock_ns) ||
        seep_loops_unsettled(&loops, clock_ns)) {
        uint64_t now = seep_loops_event(&loops, &stack[top], n, kind_of, now_ns);
        if (now && seep_loops_choose(&loops, &rule, now)) {
            n_found++;
            return;
        }
    }
    if (iterated)
        seep_loops_main_iterated(&loops, 1, clock_ns);
    n_iterations += iterated;
}

#define EVENT(after_ms, ...)    event_us(1000 * (after_ms), (const intptr_t[]){__VA_ARGS__, 0})
#define EVENT_US(after_us, ...) event_us(after_us, (const intptr_t[]){__VA_ARGS__, 0})

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
        {.path = 2, .code = MAIN, .iterator = 0x200 + again, .place = main_place, .depth = 1},
    };
    look_at(items, main_place ? 2 : 1);
}

TEST(the_main_loop_is_found_and_counted)
{
    for (int i = 0; i < 200; i++) {
        EVENT(5, MAIN, 10);
        EVENT(5, MAIN, 20, HELPER, 3);
        EVENT(5, MAIN, 30);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_eq(loops.main.code, MAIN);
    ck_assert_int_eq(loops.main.begin, 10);
    ck_assert_uint_ge(n_iterations, 200 - 25);
}

/* Micro-batches of which a step adds up the gradients: few in each of many steps. */
TEST(of_steps_and_their_micro_batches_the_steps_are_counted)
{
    for (int step = 0; step < 100; step++) {
        EVENT(1, MAIN, 10);
        for (int i = 0; i < 6; i++) {
            EVENT(5, MAIN, 20);
            EVENT(5, MAIN, 30);
        }
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_int_eq(loops.main.begin, 10);
}

TEST(of_epochs_and_batches_the_batches_are_counted)
{
    for (int epoch = 0; epoch < 10; epoch++) {
        EVENT(1, MAIN, 10);
        for (int i = 0; i < 50; i++) {
            EVENT(5, MAIN, 20);
            EVENT(5, MAIN, 30);
        }
        for (int i = 0; i < 10; i++) { /* an evaluation */
            EVENT(5, MAIN, 40);
            EVENT(5, MAIN, 50);
        }
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_int_eq(loops.main.begin, 20);
    /* Each epoch's last iteration ends where the next epoch begins, and no evaluation counts. */
    ck_assert_uint_ge(n_iterations, 10 * 50 - 1 - 30);
    ck_assert_uint_le(n_iterations, 10 * 50);
}

TEST(a_short_inner_loop_is_not_the_main_one)
{
    for (int i = 0; i < 100; i++) {
        for (int k = 0; k < 4; k++) {
            EVENT(3, MAIN, 10);
            EVENT(0, MAIN, 12);
        }
        EVENT(30, MAIN, 20);
    }
    ck_assert_int_eq(loops.main.begin, 10);
    ck_assert_uint_eq(n_found, 1);
}

TEST(an_inner_loop_with_something_before_it_is_not_the_main_one)
{
    for (int i = 0; i < 100; i++) {
        EVENT(10, MAIN, 5);
        for (int k = 0; k < 4; k++) {
            EVENT(3, MAIN, 10);
            EVENT(0, MAIN, 12);
        }
        EVENT(30, MAIN, 20);
    }
    ck_assert_int_eq(loops.main.begin, 5);
    ck_assert_uint_ge(n_iterations, 100 - 20);
    ck_assert_uint_le(n_iterations, 100);
}

TEST(a_function_that_is_called_once_an_iteration_shows_the_loop)
{
    for (int i = 0; i < 100; i++) {
        EVENT(5, HELPER, 3);
        EVENT(5, HELPER, 9);
    }
    ck_assert_uint_eq(loops.main.code, HELPER);
    ck_assert_uint_ge(n_iterations, 60);
}

TEST(loops_of_what_is_called_back_are_not_looked_at)
{
    for (int i = 0; i < 200; i++) {
        EVENT(5, FORWARD, 3);
        EVENT(5, FORWARD, 9, HELPER, 4);
        EVENT(5, FORWARD, 9, HELPER, 2);
    }
    ck_assert_uint_eq(n_found, 0);
}

TEST(a_librarys_loop_counts_where_the_user_has_none)
{
    for (int i = 0; i < 400; i++) {
        EVENT(5, MAIN, 10, LIBRARY, 3);
        EVENT(5, MAIN, 10, LIBRARY, 9);
    }
    ck_assert_uint_eq(loops.main.code, LIBRARY);
    ck_assert_uint_ge(n_iterations, 400 - 210); /* it is given two seconds */
}

/* As Keras does: three seconds of tracing, and then a training of three. */
TEST(a_librarys_loop_counts_whatever_the_library_did_before_it)
{
    for (intptr_t trace = 0; trace < 60; trace++)
        for (int i = 0; i < 5; i++) {
            EVENT(5, MAIN, 10, LIBRARY, 3, LIBRARY, 100 + 2 * trace);
            EVENT(5, MAIN, 10, LIBRARY, 3, LIBRARY, 101 + 2 * trace);
        }
    ck_assert_uint_eq(n_found, 0);
    for (int i = 0; i < 300; i++) {
        EVENT(5, MAIN, 10, LIBRARY, 7);
        EVENT(5, MAIN, 10, LIBRARY, 9);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_int_eq(loops.main.begin, 7);
    ck_assert_uint_ge(n_iterations, 190); /* it is watched for a second */
}

/* Of each epoch a quarter is training, and the rest evaluation and what is prepared for both. */
TEST(a_librarys_batches_count_where_most_of_an_epoch_is_not_training)
{
    for (int epoch = 0; epoch < 10; epoch++) {
        EVENT(5, MAIN, 10, LIBRARY, 3);
        for (int i = 0; i < 40; i++) {
            EVENT(5, MAIN, 10, LIBRARY, 7);
            EVENT(5, MAIN, 10, LIBRARY, 9);
        }
        for (intptr_t i = 0; i < 120; i++)
            EVENT(10, MAIN, 10, LIBRARY, 20, HELPER, 50 + i);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_int_eq(loops.main.begin, 7);
    ck_assert_uint_ge(n_iterations, 5 * 40);
}

/* Of each round a hundredth. */
TEST(a_detail_of_what_a_library_repeats_is_not_its_main_loop)
{
    for (int round = 0; round < 10; round++) {
        EVENT(5, MAIN, 10, LIBRARY, 3);
        for (int i = 0; i < 10; i++) {
            EVENT(1, MAIN, 10, LIBRARY, 7);
            EVENT(1, MAIN, 10, LIBRARY, 9);
        }
        for (intptr_t i = 0; i < 200; i++)
            EVENT(10, MAIN, 10, LIBRARY, 20, HELPER, 50 + i);
    }
    ck_assert_uint_eq(n_found, 0);
}

/* Each lasts for most of a second, and none comes back. */
TEST(loops_of_a_library_that_come_and_go_are_none)
{
    for (intptr_t phase = 0; phase < 20; phase++)
        for (int i = 0; i < 80; i++) {
            EVENT(5, MAIN, 10, LIBRARY, 3, LIBRARY, 100 + 2 * phase);
            EVENT(5, MAIN, 10, LIBRARY, 3, LIBRARY, 101 + 2 * phase);
        }
    ck_assert_uint_eq(n_found, 0);
}

TEST(a_library_that_only_waits_is_no_main_loop)
{
    rule.busy = false;
    for (int i = 0; i < 400; i++) {
        EVENT(5, MAIN, 10, LIBRARY, 3);
        EVENT(5, MAIN, 10, LIBRARY, 9);
    }
    ck_assert_uint_eq(n_found, 0);
}

TEST(what_is_prepared_before_the_main_loop_gives_way_to_it)
{
    for (int i = 0; i < 100; i++) {
        EVENT(5, MAIN, 10);
        EVENT(5, MAIN, 12);
    }
    ck_assert_int_eq(loops.main.begin, 10);
    for (int i = 0; i < 400; i++) {
        EVENT(5, MAIN, 50);
        EVENT(5, MAIN, 60);
    }
    ck_assert_uint_eq(n_found, 2);
    ck_assert_int_eq(loops.main.begin, 50);
}

TEST(a_fast_loop_is_taken_where_none_is_slower)
{
    for (int i = 0; i < 4000; i++) {
        EVENT(1, MAIN, 10);
        EVENT(0, MAIN, 12);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_ge(n_iterations, 1900);
}

/* Steps of 100 ms, three fifths of which a loop over something small takes. */
TEST(a_fast_loop_gives_way_to_one_around_it)
{
    for (int i = 0; i < 60; i++) {
        EVENT(20, MAIN, 10);
        for (int k = 0; k < 60; k++) {
            EVENT(1, MAIN, 20);
            EVENT(0, MAIN, 22);
        }
        EVENT(20, MAIN, 30);
    }
    ck_assert_uint_eq(n_found, 2);
    ck_assert_int_eq(loops.main.begin, 10);
}

TEST(a_fast_loop_that_settles_is_not_found_again)
{
    for (int i = 0; i < 30000; i++) {
        EVENT(0, MAIN, 10);
        EVENT(1, MAIN, 20);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_ge(n_iterations, 30000 - 400);
}

/* Epochs of 64 batches of a millisecond. */
TEST(fast_batches_that_do_all_the_work_are_the_steps)
{
    for (int epoch = 0; epoch < 20; epoch++) {
        EVENT(1, MAIN, 10);
        for (int k = 0; k < 64; k++) {
            EVENT(1, MAIN, 20);
            EVENT_US(200, MAIN, 22);
        }
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_int_eq(loops.main.begin, 20);
    ck_assert_uint_ge(loops.main.n, 20 * 64 - 8); /* counted back to the first that was seen */
}

/* Rounds of 20 us around which nothing else is: filling a table is no step. */
TEST(a_very_fast_loop_gives_way_to_one_around_it_whatever_it_does)
{
    for (int i = 0; i < 200; i++) {
        EVENT_US(50, MAIN, 10);
        for (int k = 0; k < 250; k++) {
            EVENT_US(20, MAIN, 20);
            EVENT_US(0, MAIN, 22);
        }
    }
    ck_assert_int_eq(loops.main.begin, 10);
}

/* A library goes round for two seconds before the user's loop has had enough rounds. */
TEST(the_users_loop_takes_over_from_a_librarys)
{
    for (int i = 0; i < 60; i++) {
        EVENT(1, MAIN, 10);
        for (int k = 0; k < 20; k++) {
            loops.period = 100 + (uint32_t)i;
            EVENT(10, MAIN, 20, LIBRARY, 3);
            EVENT(0, MAIN, 20, LIBRARY, 9);
        }
    }
    ck_assert_uint_eq(n_found, 2);
    ck_assert_uint_eq(loops.main.code, MAIN);
    ck_assert_int_eq(loops.main.kind, SEEP_LOOP_USER);
    ck_assert_uint_ge(loops.main.n, 60 - 2);
    ck_assert_uint_le(loops.main.first_period, 100 + 1);
}

TEST(rounds_before_a_loop_was_noticed_are_known)
{
    for (int i = 0; i < 200; i++) {
        loops.period = 1 + (uint32_t)i / 10;
        EVENT(5, MAIN, 10);
        EVENT(5, MAIN, 30);
    }
    ck_assert_uint_ge(loops.main.n, 199);
    ck_assert_uint_eq(loops.main.first_period, 1);
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
            look(100 + 64 * i, 0, 0); /* of range(…, 64) */
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

TEST(programs_without_loops_have_none)
{
    for (intptr_t i = 0; i < 1000; i++)
        EVENT(5, MAIN, 10 + i);
    ck_assert_uint_eq(n_found, 0);
}

SUITE("the main loop", .setup = begin)
