/* "doubling": how often, how closely, how large, and how long ago. */
#include "tests/verdict/levels.h"

enum { LINE = 77 };

/* A level in MiB; it jumps at steps, and is flat in between. */
static void jumps(const uint32_t *steps, const double *mib, unsigned n)
{
    struct bend bends[2 * 8 + 2] = {{0}};
    unsigned k = 0;

    for (unsigned i = 0; i < n; i++) {
        bends[k++] = (struct bend){steps[i], mib[i]};
        if (i + 1 < n)
            bends[k++] = (struct bend){steps[i + 1] - 1, mib[i]};
    }
    builder_level(&b, user(LINE), HOST, MIB, LAST, drawn, bends);
}

static size_t count(const char *pattern)
{
    const json_t *list = findings();
    size_t n = 0;

    for (size_t i = 0; i < json_array_size(list); i++)
        n += strcmp(text(json_array_get(list, i), "pattern"), pattern) == 0;
    return n;
}

static const uint32_t when[] = {1, 20, 50, 100};

TEST(what_doubles_three_times_and_may_do_so_again_is_told)
{
    jumps(when, (const double[]){8, 16, 32, 64}, 4);
    const json_t *f = only("doubling", "pressure", LINE);
    ck_assert_double_eq(number(f, "live_bytes"), 64.0 * MIB);
}

/* The old buffer and the new one, for a few steps that one time slice stands for. */
TEST(what_is_there_while_it_is_copied_is_no_jump)
{
    const uint32_t steps[] = {1, 20, 50, 53, 100};

    jumps(steps, (const double[]){8, 16, 48, 32, 64}, 5);
    (void)only("doubling", "pressure", LINE);
}

TEST(any_other_rise_and_fall_breaks_the_series)
{
    const uint32_t steps[] = {1, 20, 50, 53, 100};

    jumps(steps, (const double[]){8, 16, 58, 32, 64}, 5);
    ck_assert_uint_eq(count("doubling"), 0);
}

TEST(twice_is_no_series)
{
    jumps(when, (const double[]){16, 32, 64}, 3);
    ck_assert_uint_eq(count("doubling"), 0);
}

/* Times the level before: the last of each, and all of them. */
static const struct {
    double by;
    bool doubles;
} factors[] = {{1.6, false}, {1.8, true}, {2.5, true}, {2.7, false}};

TEST(a_jump_is_to_about_twice_what_was_there, .to = N(factors))
{
    const double by = factors[_i].by;

    jumps(when, (const double[]){40, 40 * by, 40 * by * by, 40 * by * by * by}, 4);
    ck_assert_uint_eq(count("doubling"), factors[_i].doubles);
}

TEST(little_that_doubles_is_any_table)
{
    jumps(when, (const double[]){1, 2, 4, 8}, 4);
    ck_assert_uint_eq(count("doubling"), 0);
}

/* What fills it at one pace had filled it again by now. */
TEST(what_had_more_time_than_before_has_stopped)
{
    jumps((const uint32_t[]){1, 20, 40, 90}, (const double[]){8, 16, 32, 64}, 4);
    ck_assert_uint_eq(count("doubling"), 0);
}

TEST(what_was_emptied_is_not_kept)
{
    jumps((const uint32_t[]){1, 20, 50, 100, 150}, (const double[]){8, 16, 32, 64, 1}, 5);
    ck_assert_uint_eq(count("doubling"), 0);
}

SUITE("doubling", .setup = setup, .teardown = teardown)
