/* The lab's random generator: a seed repeats its sequence, and seeds do not share one. */
#include "kernels/compute/chance.h"
#include "tests/suite.h"

#include <check.h>
#include <stdbool.h>
#include <string.h>

TEST(sequences_of_neighbouring_seeds_and_numbers_share_nothing)
{
    enum { SEEDS = 8, DRAWS = 16, N = SEEDS * SEEDS * DRAWS };
    uint64_t drawn[N];
    size_t n = 0;

    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        for (uint64_t k = 0; k < SEEDS; k++) {
            struct seep_chance c = seep_chance_of(seed, k), again = seep_chance_of(seed, k);
            for (int i = 0; i < DRAWS; i++) {
                drawn[n] = seep_chance_next(&c);
                ck_assert_uint_eq(drawn[n++], seep_chance_next(&again));
            }
        }
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < i; k++)
            ck_assert_msg(drawn[i] != drawn[k], "draws %d and %d", (int)i, (int)k);
    }
}

/* 2^16 apart: all bits of a seed count. */
static const uint64_t other_seeds[] = {8, 7 + 65536, 7 + (UINT64_C(1) << 40)};

TEST(an_order_is_of_all_and_of_its_whole_seed, .to = N(other_seeds))
{
    enum { N = 100 };
    struct seep_chance one = {7}, other = {other_seeds[_i]};
    uint32_t order[N], another[N];
    bool seen[N] = {false};

    seep_chance_shuffle(&one, order, N);
    seep_chance_shuffle(&other, another, N);
    for (size_t i = 0; i < N; i++)
        seen[order[i]] = true;
    for (size_t i = 0; i < N; i++)
        ck_assert(seen[i]);
    ck_assert(memcmp(order, another, sizeof order) != 0);
}

TEST(draws_stay_within_their_bounds)
{
    struct seep_chance c = {1};
    double sum = 0;

    for (int i = 0; i < 20000; i++) {
        double x = seep_chance_between(&c, -2, 3);
        ck_assert(x > -2 && x < 3);
        ck_assert_uint_lt(seep_chance_below(&c, 3), 3);
        sum += x;
    }
    ck_assert_double_eq_tol(sum / 20000, 0.5, 0.05);
    ck_assert_uint_eq(seep_chance_below(&c, 1), 0);
}

SUITE("chance")
