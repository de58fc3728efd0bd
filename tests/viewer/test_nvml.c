/* Which of NVML's devices a process means by a number. */
#include <check.h>

#include "tests/suite.h"
#include "viewer/watch/nvml.h"

static const char uuids[][SEEP_NVML_UUID] = {"GPU-aa01", "GPU-aa02", "GPU-bb03", "GPU-cc04"};

static const struct {
    const char *visible;
    unsigned number;
    int index;
} cases[] = {
    {NULL, 0, 0},
    {NULL, 3, 3},
    {NULL, 4, -1},
    {"", 0, -1},
    {"2,0", 0, 2},
    {"2,0", 1, 0},
    {"2,0", 2, -1},
    {" 3 , 1 ", 1, 1},
    {"GPU-bb03,GPU-cc", 0, 2},
    {"GPU-bb03,GPU-cc", 1, 3},
    {"GPU-aa", 0, -1}, /* begins two */
    {"GPU-", 0, -1},   /* begins all */
    {"1,7,2", 0, 1},
    {"1,7,2", 2, -1}, /* what is behind none is hidden */
    {"-1", 0, -1},
    {"NoDevFiles", 0, -1},
    {"99999999999", 0, -1},
};

TEST(a_number_is_a_place_in_the_list_of_visible_ones, .to = N(cases))
{
    ck_assert_int_eq(seep_nvml_index_in(uuids, N(uuids), cases[_i].visible, cases[_i].number),
                     cases[_i].index);
}

SUITE("nvml")
