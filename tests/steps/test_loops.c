/* The main loop, found by made-up stacks. */
#include "tests/steps/loop_fixture.h"

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

/* A while loop around one call, or a for loop over what does not count. */
TEST(a_loop_that_stays_at_one_place_is_seen_by_its_variables)
{
    for (int i = 0; i < 200; i++) {
        main_locals++;
        EVENT(10, MAIN, 10, HELPER, 3);
        EVENT(0, MAIN, 10, HELPER, 5);
        EVENT(0, MAIN, 10, HELPER, 9);
    }
    ck_assert_uint_eq(n_found, 1);
    ck_assert_uint_eq(loops.main.code, MAIN);
    ck_assert_uint_eq(loops.main.n, 199);
}

TEST(a_call_that_lasts_at_one_place_is_no_loop)
{
    for (int i = 0; i < 200; i++)
        EVENT(10, MAIN, 10);
    ck_assert_uint_eq(n_found, 0);
}

TEST(programs_without_loops_have_none)
{
    for (intptr_t i = 0; i < 1000; i++)
        EVENT(5, MAIN, 10 + i);
    ck_assert_uint_eq(n_found, 0);
}

/* L-BFGS with a line search moves the parameters before and after it, each time in a loop over
 * them. */
TEST(calls_from_different_depths_are_no_rounds_of_one_loop)
{
    for (int i = 0; i < 400; i++) {
        EVENT(4, LIBRARY, 3);
        for (int k = 0; k < 2; k++) {
            EVENT(0, LIBRARY, 5, LIBRARY, 20, LIBRARY, 14);
            EVENT(0, LIBRARY, 5, LIBRARY, 20, LIBRARY, 16);
        }
        EVENT(10, LIBRARY, 7, LIBRARY, 14);
        EVENT(0, LIBRARY, 7, LIBRARY, 16);
        EVENT(0, LIBRARY, 7, LIBRARY, 14);
    }
    ck_assert_int_eq(loops.main.begin, 3);
}

SUITE("the main loop", .setup = begin)
