/* How much CPU time all readers of copies may take. */
#include <check.h>

#include "libprof/format/snapshot_format.h"
#include "tests/suite.h"

#define SECOND UINT64_C(1000000000)
#define MS     UINT64_C(1000000)

/* One look has been read; the next is taken to cost as much. */
TEST(a_second_may_be_read_if_both_fit, .to = 5)
{
    static const struct {
        uint64_t age_s, all_ms;
    } allowed[] = {{0, 2500}, {10, 3700}, {25, 5500}, {50, 6000}, {1000, 25000}};
    const uint64_t half_ns = allowed[_i].all_ms / 2 * MS, age_ns = allowed[_i].age_s * SECOND;
    ck_assert(seep_snapshot_may_be_read(half_ns, 1, age_ns));
    ck_assert(!seep_snapshot_may_be_read(half_ns + MS, 1, age_ns));
}

SUITE("reading limit")
