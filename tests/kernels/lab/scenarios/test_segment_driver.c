/* The stand-in for a GPU's driver: whose addresses are whose. */
#include "kernels/lab/scenarios/segment_driver.h"
#include "tests/suite.h"

#include <check.h>
#include <stdlib.h>

#define MIB ((size_t)1 << 20)

static struct seep_segment_driver *driver;
static struct seep_caching_driver calls;

static void set_up(void)
{
    ck_assert_int_eq(seep_segment_driver_create(NULL, 100 * MIB, &driver), 0);
    calls = seep_segment_driver_calls(driver);
}

static void tear_down(void)
{
    seep_segment_driver_destroy(driver);
}

static uintptr_t take(size_t bytes)
{
    uintptr_t address = 0;

    ck_assert_int_eq(calls.take(calls.context, bytes, &address), 0);
    return address;
}

/* Many times round its range, with segments that stay. */
TEST(what_is_out_is_never_given_to_another)
{
    uintptr_t first = take(20 * MIB), second = 0;

    for (int round = 0; round < 1000; round++) {
        uintptr_t passing = take(57 * MIB);
        if (round == 500)
            second = take(20 * MIB);
        ck_assert_msg(passing + 57 * MIB <= first || first + 20 * MIB <= passing, "round %d",
                      round);
        ck_assert(round <= 500 || passing + 57 * MIB <= second || second + 20 * MIB <= passing);
        calls.give(calls.context, passing, 57 * MIB);
    }
}

TEST(the_device_is_full_at_its_capacity_and_has_room_again)
{
    uintptr_t large = take(80 * MIB), other;

    ck_assert_int_eq(calls.take(calls.context, 20 * MIB + 1, &other), -SEEP_ENOMEM);
    take(20 * MIB);
    ck_assert_int_eq(calls.take(calls.context, 1, &other), -SEEP_ENOMEM);
    calls.give(calls.context, large, 80 * MIB);
    take(80 * MIB);
}

TEST(a_growing_segment_counts_with_the_others)
{
    uintptr_t growing = 0, other;

    ck_assert_int_eq(calls.grow(calls.context, 30 * MIB, 30 * MIB, &growing), 0);
    uintptr_t begin = growing;
    ck_assert_int_eq(calls.grow(calls.context, 50 * MIB, 20 * MIB, &growing), 0);
    ck_assert_uint_eq(growing, begin);
    ck_assert_int_eq(calls.take(calls.context, 51 * MIB, &other), -SEEP_ENOMEM);
    calls.give(calls.context, growing, 10 * MIB); /* in parts */
    take(60 * MIB);
    ck_assert_int_eq(calls.grow(calls.context, 60 * MIB, 10 * MIB, &growing), -SEEP_ENOMEM);
    calls.give(calls.context, growing + 10 * MIB, 40 * MIB);
    take(40 * MIB);
}

SUITE("segment_driver", .setup = set_up, .teardown = tear_down)
