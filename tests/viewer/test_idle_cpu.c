/* When a CPU counts as free for work that may wait. */
#include <check.h>
#include <string.h>

#include "tests/suite.h"
#include "viewer/watch/idle_cpu.h"

#define MS UINT64_C(1000000)

static bool read_text(const char *text, uint64_t *ns)
{
    cpu_set_t cpus;

    CPU_ZERO(&cpus);
    CPU_SET(1, &cpus);
    CPU_SET(12, &cpus);
    FILE *file = fmemopen((void *)text, strlen(text), "r");
    const bool told = seep_idle_cpu_read(file, &cpus, ns);
    fclose(file);
    return told;
}

/* A tick is a hundredth of a second. */
TEST(the_idle_time_of_the_cpus_that_may_be_used_is_summed)
{
    uint64_t ns;

    ck_assert(read_text("cpu  9 9 9 99999 9999 9 9 0 0 0\n"
                        "cpu0 9 9 9 7000 700 9 9 0 0 0\n"
                        "cpu1 9 9 9 300 20 9 9 0 0 0\n"
                        "cpu12 9 9 9 1 1 9 9 0 0 0\n"
                        "cpu2 9 9 9 5000 500 9 9 0 0 0\n"
                        "intr 1 2 3\n"
                        "cpu1 9 9 9 300 20 9 9 0 0 0\n",
                        &ns));
    ck_assert_uint_eq(ns, 3220 * MS);
}

static const char *const untold[] = {
    "intr 1 2 3\n",      "cpu  9 9 9 99999 9999 9 9 0 0 0\n", "cpu0 9 9 9 7000 700\n",
    "cpu1 9 9 9 7000\n", "cpu1 nothing\ncpux 1 2 3 4 5\n",    "",
};

TEST(a_text_that_does_not_tell_of_them_is_recognised, .to = N(untold))
{
    uint64_t ns;

    ck_assert(!read_text(untold[_i], &ns));
}

TEST(one_that_was_idle_for_half_of_the_time_is_there)
{
    struct seep_idle_cpu idle = {0};

    ck_assert(!seep_idle_cpu_was_there(&idle, 5000 * MS, 70000 * MS)); /* nothing to compare with */
    ck_assert(seep_idle_cpu_was_there(&idle, 5200 * MS, 70100 * MS));
    ck_assert(!seep_idle_cpu_was_there(&idle, 5400 * MS, 70199 * MS));
    ck_assert(seep_idle_cpu_was_there(&idle, 5600 * MS, 70999 * MS));  /* several */
    ck_assert(!seep_idle_cpu_was_there(&idle, 5800 * MS, 70000 * MS)); /* it cannot be */
}

/* The kernel counts in hundredths of a second. */
TEST(too_short_a_time_tells_nothing_and_is_not_forgotten)
{
    struct seep_idle_cpu idle = {0};

    ck_assert(!seep_idle_cpu_was_there(&idle, 5000 * MS, 70000 * MS));
    ck_assert(!seep_idle_cpu_was_there(&idle, 5060 * MS, 70060 * MS));
    ck_assert(seep_idle_cpu_was_there(&idle, 5120 * MS, 70060 * MS));
}

static const struct {
    const char *text;
    bool enough; /* of two CPUs */
} loads[] = {
    {"0.51 0.40 0.31 3/84 8984\n", true}, /* this one and two */
    {"2.49 0.40 0.31 1/84 8984\n", true},
    {"0.51 0.40 0.31 4/84 8984\n", false}, /* at the moment */
    {"2.50 0.40 0.31 3/84 8984\n", false}, /* in the last minute */
    {"0.51 0.40\n", false},
    {"", false},
};

TEST(each_task_has_a_cpu_if_none_waits_but_the_one_that_asks, .to = N(loads))
{
    char text[64];

    snprintf(text, sizeof text, "%s\n", loads[_i].text);
    FILE *file = fmemopen(text, strlen(text), "r");
    ck_assert_int_eq(seep_idle_cpu_for_each(file, 2), loads[_i].enough);
    fclose(file);
}

TEST(nobody_knows_how_many_cpus_are_enough)
{
    char text[] = "0.00 0.00 0.00 1/84 8984\n";
    FILE *file = fmemopen(text, strlen(text), "r");

    ck_assert(!seep_idle_cpu_for_each(file, -1));
    fclose(file);
}

SUITE("an idle CPU")
