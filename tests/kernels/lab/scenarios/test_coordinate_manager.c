/* The maps of a coordinate manager: all are kept until it is cleared. */
#include "kernels/lab/scenarios/coordinate_manager.h"
#include "tests/suite.h"

#include <check.h>

TEST(maps_add_up_until_the_manager_is_cleared)
{
    static float grid[1000][4];
    struct seep_coordinate_manager manager = {0};
    size_t one;

    for (int i = 0; i < 1000; i++)
        for (int k = 1; k < 4; k++)
            grid[i][k] = (float)(i / (k == 1 ? 1 : k == 2 ? 10 : 100) % 10 - 5);
    ck_assert_int_eq(seep_coordinate_manager_insert(&manager, grid, 1000), 0);
    one = manager.bytes;
    ck_assert_uint_ge(one, 2000 * 20);
    ck_assert_uint_le(one, 2000 * 20 + 100);
    for (int i = 0; i < 4; i++)
        ck_assert_int_eq(seep_coordinate_manager_insert(&manager, grid, 1000), 0);
    ck_assert_uint_eq(manager.bytes, 5 * one);
    ck_assert_int_eq(seep_coordinate_manager_insert(&manager, grid, 0), 0);
    seep_coordinate_manager_clear(&manager);
    ck_assert_uint_eq(manager.bytes, 0);
    ck_assert_ptr_null(manager.newest);
}

SUITE("coordinate manager")
