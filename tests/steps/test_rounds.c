/* The step where several optimizers step: a round of them. */
#include <check.h>
#include <string.h>

#include "preload/steps/rounds.h"
#include "tests/suite.h"

static struct seep_rounds rounds;

static void forget(void)
{
    memset(&rounds, 0, sizeof(rounds));
}

/* Letters are optimizers; how many rounds they open. */
static unsigned open_by(const char *steps, unsigned times)
{
    unsigned n = 0;
    for (unsigned i = 0; i < times; i++)
        for (const char *at = steps; *at; at++)
            n += seep_rounds_stepped(&rounds, 0x1000 + 64 * (uintptr_t)*at);
    return n;
}

TEST(one_optimizer_opens_a_round_each_time)
{
    ck_assert_uint_eq(open_by("a", 100), 100);
}

static const struct {
    const char *steps;
    unsigned rounds; /* of a hundred times */
} jobs[] = {
    {"dg", 100},     /* a GAN */
    {"dddddg", 500}, /* whose critic steps more often */
    {"abcdefghijkl", 100},
};

TEST(several_step_in_turn, .to = N(jobs))
{
    ck_assert_uint_eq(open_by(jobs[_i].steps, 100), jobs[_i].rounds);
}

TEST(a_new_optimizer_for_each_fold_counts_from_its_second_step)
{
    ck_assert_uint_eq(open_by("a", 40), 40);
    ck_assert_uint_eq(open_by("b", 40), 39);
    ck_assert_uint_eq(open_by("c", 40), 39);
}

TEST(optimizers_that_step_once_open_one_round_at_all)
{
    unsigned n = 0;
    for (uintptr_t i = 1; i <= 5000; i++)
        n += seep_rounds_stepped(&rounds, 0x7f0000000000 + 208 * i);
    ck_assert_uint_eq(n, 1);
}

TEST(hundreds_of_optimizers_are_one_round)
{
    unsigned n = 0;
    for (unsigned round = 0; round < 50; round++)
        for (uintptr_t i = 1; i <= 300; i++)
            n += seep_rounds_stepped(&rounds, 0x7f0000000000 + 208 * i);
    ck_assert_uint_eq(n, 50);
}

SUITE("rounds of optimizers", .setup = forget)
