/* The time in which a loop's speed is measured: without the time when others had the CPU. */
#include "libprof/runtime/store/own_time.h"
#include "tests/suite.h"

#include <check.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { NEIGHBOURS = 3 };

static const struct {
    const char *schedstat;
    uint64_t waited;
} texts[] = {
    {"123456 789 12\n", 789},
    {"0 0 1\n", 0},
    {"5 18446744073709551615 1\n", UINT64_MAX},
    {"", 0},
    {"12", 0},
    {"12 34", 0},
    {"12 x 1", 0},
    {"x 34 1", 0},
};

TEST(what_was_waited_is_the_second_number, .to = N(texts))
{
    ck_assert_uint_eq(seep_own_time_waited(texts[_i].schedstat), texts[_i].waited);
}

static uint64_t wall_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static bool kernel_tells(void)
{
    char text[80] = "";
    FILE *f = fopen("/proc/thread-self/schedstat", "r");
    const bool told = f && fgets(text, sizeof text, f) != NULL;

    if (f)
        fclose(f);
    return told && seep_own_time_waited(text) > 0;
}

TEST(beside_three_others_on_one_cpu_little_of_the_time_is_its_own)
{
    pid_t others[NEIGHBOURS];
    cpu_set_t all, one;
    size_t cpu = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    for (int i = 0; i < NEIGHBOURS; i++) {
        others[i] = fork();
        ck_assert_int_ge(others[i], 0);
        while (others[i] == 0)
            ;
    }
    const uint64_t own = seep_own_time_ns(), wall = wall_ns();
    uint64_t now = own;
    while (wall_ns() - wall < UINT64_C(500000000)) {
        const uint64_t before = now;
        now = seep_own_time_ns();
        ck_assert_uint_ge(now, before);
    }
    const double share = (double)(now - own) / (double)(wall_ns() - wall);
    for (int i = 0; i < NEIGHBOURS; i++) {
        kill(others[i], SIGKILL);
        waitpid(others[i], NULL, 0);
    }
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
    if (kernel_tells())
        ck_assert_double_lt(share, 0.75);
    else
        ck_assert_double_gt(share, 0.9);
}

SUITE("own time")
