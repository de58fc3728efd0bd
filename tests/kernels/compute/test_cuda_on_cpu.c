/* The stand-in for a GPU notices what it is there to notice: faults that are planted. */
#include "tests/cuda_on_cpu/planted.h"
#include "tests/suite.h"

#include <check.h>
#include <signal.h>

START_TEST(kernels_that_are_right_come_out_right)
{
    ck_assert_int_eq(planted_block_reversal(true), 0);
    ck_assert_int_eq(planted_warp_reversal(true), 0);
    ck_assert_int_eq(planted_block_sum(), 0);
    ck_assert_int_eq(planted_sum(true), 0);
}
END_TEST

#ifndef __SANITIZE_THREAD__ /* which would report it, too */
START_TEST(a_barrier_left_out_shows)
{
    ck_assert_int_gt(planted_block_reversal(false), 0);
    ck_assert_int_gt(planted_warp_reversal(false), 0);
}
END_TEST
#endif

START_TEST(memory_that_was_never_written_shows)
{
    ck_assert_int_ne(planted_sum(false), 0);
}
END_TEST

START_TEST(a_warp_that_parts_before_it_meets_ends_the_program)
{
    planted_parting();
}
END_TEST

START_TEST(a_call_that_cannot_be_is_refused)
{
    ck_assert_int_eq(planted_wrong_calls(), 0);
}
END_TEST

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
START_TEST(a_sanitizer_reports_what_values_do_not_show)
{
#ifdef __SANITIZE_THREAD__
    _i == 0 ? planted_plain_add() : planted_ballot_barrier();
#else
    planted_overrun();
#endif
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("cuda on cpu");
    TCase *c = tcase_create("planted");

    tcase_set_timeout(c, 60);
    tcase_add_test(c, kernels_that_are_right_come_out_right);
    tcase_add_test(c, memory_that_was_never_written_shows);
    tcase_add_test(c, a_call_that_cannot_be_is_refused);
#ifndef __SANITIZE_THREAD__
    tcase_add_test(c, a_barrier_left_out_shows);
#endif
#if defined __SANITIZE_THREAD__
    tcase_add_loop_exit_test(c, a_sanitizer_reports_what_values_do_not_show, 66, 0, 2);
#elif defined __SANITIZE_ADDRESS__
    tcase_add_exit_test(c, a_sanitizer_reports_what_values_do_not_show, 1);
#endif
    tcase_add_test_raise_signal(c, a_warp_that_parts_before_it_meets_ends_the_program, SIGABRT);
    suite_add_tcase(suite, c);
    return suite_run(suite);
}
