/* The stand-in for a GPU notices the faults that are planted for it. */
#include "tests/cuda_on_cpu/planted.h"
#include "tests/suite.h"

#include <check.h>
#include <signal.h>

TEST(kernels_that_are_right_come_out_right)
{
    ck_assert_int_eq(planted_block_reversal(true), 0);
    ck_assert_int_eq(planted_warp_reversal(true), 0);
    ck_assert_int_eq(planted_block_sum(), 0);
    ck_assert_int_eq(planted_sum(true), 0);
}

#ifndef __SANITIZE_THREAD__ /* which would report it, too */
TEST(a_barrier_left_out_shows)
{
    ck_assert_int_gt(planted_block_reversal(false), 0);
    ck_assert_int_gt(planted_warp_reversal(false), 0);
}
#endif

TEST(gpus_without_the_instructions_for_it_sum_a_warp_as_those_with_them)
{
    ck_assert_int_eq(planted_shuffles(), 0);
}

TEST(memory_that_was_never_written_shows)
{
    ck_assert_int_ne(planted_sum(false), 0);
}

TEST(a_warp_that_parts_before_it_meets_ends_the_program, .signal = SIGABRT)
{
    planted_parting();
}

TEST(a_call_that_cannot_be_is_refused)
{
    ck_assert_int_eq(planted_wrong_calls(), 0);
}

#if defined __SANITIZE_THREAD__ || defined __SANITIZE_ADDRESS__
#ifdef __SANITIZE_THREAD__
enum { PLANTED = 2, STATUS = 66 };
#else
enum { PLANTED = 1, STATUS = 1 };
#endif

TEST(a_sanitizer_reports_what_values_do_not_show, .to = PLANTED, .exit_status = STATUS)
{
#ifdef __SANITIZE_THREAD__
    _i == 0 ? planted_plain_add() : planted_ballot_barrier();
#else
    planted_overrun();
#endif
}
#endif

SUITE("cuda on cpu")
