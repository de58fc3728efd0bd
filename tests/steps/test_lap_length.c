/* Rounds of an inner loop in each lap of the one around it. */
#include <check.h>

#include "preload/steps/lap_length.h"
#include "tests/suite.h"

static struct seep_lap_length found_at(intptr_t place, uint32_t n)
{
    struct seep_lap_length length;
    seep_lap_length_begin(&length, place, n);
    return length;
}

TEST(a_lap_has_as_many_rounds_as_one_that_came_to_its_end)
{
    struct seep_lap_length length = found_at(35, 34);
    ck_assert_int_eq(seep_lap_length(&length), 0);
    seep_lap_length_saw(&length, 300, 600);
    ck_assert_int_eq(seep_lap_length(&length), 0);
    seep_lap_length_saw(&length, 599, 600);
    ck_assert_int_eq(seep_lap_length(&length), 599);
    seep_lap_length_saw(&length, 1, 600);
    ck_assert_int_eq(seep_lap_length(&length), 600);
}

TEST(a_range_need_not_begin_at_zero)
{
    struct seep_lap_length length = found_at(1034, 34);
    seep_lap_length_saw(&length, 1600, 1600);
    ck_assert_int_eq(seep_lap_length(&length), 600);
}

TEST(several_laps_pass_unseen)
{
    struct seep_lap_length length = found_at(35, 35);
    seep_lap_length_saw(&length, 600, 600);
    ck_assert_int_eq(seep_lap_length_place(&length, 2, 3), 1802);
    ck_assert_int_eq(seep_lap_length_place(&length, 0, 3), 1801);
}

TEST(one_lap_may_have_been_left_early)
{
    struct seep_lap_length length = found_at(35, 35);
    seep_lap_length_saw(&length, 600, 600);
    ck_assert_int_eq(seep_lap_length_place(&length, 2, 1), 0);
    length.unseen = true;
    ck_assert_int_eq(seep_lap_length_place(&length, 2, 1), 602);
}

TEST(laps_none_of_which_came_to_its_end_say_nothing)
{
    struct seep_lap_length length = found_at(35, 35);
    length.unseen = true;
    seep_lap_length_saw(&length, 300, 600);
    seep_lap_length_saw(&length, 290, 0);
    ck_assert_int_eq(seep_lap_length_place(&length, 2, 3), 0);
}

SUITE("how many rounds a lap has")
