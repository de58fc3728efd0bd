/* Sums over sampled blocks are those of all blocks, on average. The walks are the same each time.
 */
#include <check.h>
#include <math.h>

#include "preload/cost/sampling.h"
#include "tests/suite.h"

enum { BLOCKS = 400000, KIB = 1024 };

struct sums {
    double blocks, bytes, seen_blocks, seen_bytes, variance;
    unsigned n_taken;
};

/* Sizes from 0 to 16 KiB, most of them small. */
static uint64_t size_of(unsigned i)
{
    return (i * UINT64_C(2654435761) % 16384) >> (i % 11);
}

static void walk(struct seep_sampler *sampler, unsigned from, unsigned to, uint64_t gap,
                 struct sums *s)
{
    for (unsigned i = from; i < to; i++) {
        const uint64_t bytes = size_of(i);
        s->blocks++;
        s->bytes += (double)bytes;
        s->variance += (double)(bytes * bytes) / expm1((double)(bytes + 1) / (double)gap);
        if (!seep_sampler_takes(sampler, bytes, gap))
            continue;
        const double n = (double)seep_sample_weight(i * UINT64_C(48), bytes, gap);
        s->n_taken++;
        s->seen_blocks += n;
        s->seen_bytes += n * (double)bytes;
    }
}

static void are_right(const struct sums *s)
{
    ck_assert_double_eq_tol(s->seen_bytes, s->bytes, 4 * sqrt(s->variance));
    ck_assert_double_eq_tol(s->seen_blocks / s->blocks, 1, 0.1);
}

TEST(sampled_sums_are_those_of_all_blocks)
{
    for (uint64_t gap = 512; gap <= 64 * KIB; gap *= 2) {
        struct seep_sampler sampler = {.random = 88172645463325252 + gap};
        struct sums s = {0};
        walk(&sampler, 0, BLOCKS, gap, &s);
        are_right(&s);
        ck_assert_uint_lt(s.n_taken, BLOCKS);
    }
}

/* Short stretches at each gap: a gap that was drawn for another mean would show. */
TEST(sums_stay_right_while_the_gap_changes)
{
    struct seep_sampler sampler = {.random = 1234567};
    struct sums s = {0};
    for (unsigned i = 0; i < BLOCKS; i += 20)
        walk(&sampler, i, i + 20, i % 40 ? 64 * KIB : 1 * KIB, &s);
    are_right(&s);
}

TEST(a_free_finds_the_same_number_as_its_allocation)
{
    for (uint64_t block = 16; block < 16000; block += 16) {
        const uint64_t n = seep_sample_weight(block, block % 900, 4 * KIB);
        ck_assert_uint_ge(n, 1);
        ck_assert_uint_eq(seep_sample_weight(block, block % 900, 4 * KIB), n);
    }
}

TEST(a_weight_is_right_on_average_over_addresses)
{
    const double p = -expm1(-101. / 1024);
    double sum = 0;
    for (uint64_t i = 0; i < 100000; i++)
        sum += (double)seep_sample_weight(i * 112, 100, KIB);
    ck_assert_double_eq_tol(sum / 100000 * p, 1, 0.005);
}

TEST(a_block_that_is_certain_counts_as_itself)
{
    ck_assert_uint_eq(seep_sample_weight(4096, SEEP_SAMPLE_CERTAIN * KIB, KIB), 1);
    ck_assert_uint_eq(seep_sample_weight(4096, 1, 0), 1);
    ck_assert_uint_eq(seep_sample_weight(4096, UINT64_MAX, KIB), 1);
}

SUITE("sampling")
