/* The pool of threads that kernels run on. */
#include "kernels/compute/stream.h"
#include "tests/suite.h"

#include <check.h>
#include <dirent.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

enum { MOST = 64 };

struct tally {
    unsigned calls[MOST]; /* by thread: each writes its own */
    unsigned n_threads[MOST];
};

static void count(void *arg, unsigned thread, unsigned n_threads)
{
    struct tally *t = arg;

    t->calls[thread]++;
    t->n_threads[thread] = n_threads;
}

static unsigned threads_alive(void)
{
    DIR *tasks = opendir("/proc/self/task");
    unsigned n = 0;

    ck_assert_ptr_nonnull(tasks);
    for (const struct dirent *e = readdir(tasks); e; e = readdir(tasks))
        n += e->d_name[0] != '.';
    closedir(tasks);
    return n;
}

/* Polls: a thread that was joined is still listed until the kernel has done with it. */
static void expect_threads(unsigned n)
{
    for (int tries = 10 * 1000; tries && threads_alive() != n; tries--)
        nanosleep(&(struct timespec){.tv_nsec = 1000 * 1000}, NULL);
    ck_assert_uint_eq(threads_alive(), n);
}

static const struct {
    unsigned asked, threads;
} pools[] = {{1, 1}, {2, 2}, {7, 7}, {64, 64}, {65, 64}, {4000000000, 64}};

TEST(each_thread_works_once_a_run_however_many_are_asked_for, .to = N(pools))
{
    enum { RUNS = 200 };
    struct tally tally = {0};
    struct seep_stream *s;

    ck_assert_int_eq(seep_stream_create_cpu(pools[_i].asked, &s), 0);
    ck_assert_uint_eq(seep_stream_threads(s), pools[_i].threads);
    for (unsigned run = 1; run <= RUNS; run++) {
        seep_stream_run(s, count, &tally);
        for (unsigned t = 0; t < MOST; t++) {
            ck_assert_uint_eq(tally.calls[t], t < pools[_i].threads ? run : 0);
            ck_assert_uint_eq(tally.n_threads[t], t < pools[_i].threads ? pools[_i].threads : 0);
        }
    }
    seep_stream_destroy(s);
}

TEST(without_a_number_there_is_a_thread_for_each_cpu_of_the_process)
{
    cpu_set_t one, all;
    struct seep_stream *s;
    size_t cpu = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    ck_assert_int_eq(seep_stream_create_cpu(0, &s), 0);
    ck_assert_int_eq((int)seep_stream_threads(s), CPU_COUNT(&all) < MOST ? CPU_COUNT(&all) : MOST);
    seep_stream_destroy(s);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
    ck_assert_int_eq(seep_stream_create_cpu(0, &s), 0);
    ck_assert_uint_eq(seep_stream_threads(s), 1);
    seep_stream_destroy(s);
}

/* Room for some stacks and not for all. A sanitizer's own maps would not fit either. */
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST(a_pool_that_cannot_be_whole_is_none_and_leaves_no_threads)
{
    struct rlimit limit;
    struct seep_stream *s = NULL;
    unsigned long pages;
    unsigned before = threads_alive();
    FILE *f = fopen("/proc/self/statm", "re");

    ck_assert_ptr_nonnull(f);
    ck_assert_int_eq(fscanf(f, "%lu", &pages), 1);
    fclose(f);
    ck_assert_int_eq(getrlimit(RLIMIT_AS, &limit), 0);
    limit.rlim_cur = pages * 4096 + ((rlim_t)300 << 20);
    ck_assert_int_eq(setrlimit(RLIMIT_AS, &limit), 0);
    ck_assert_int_eq(seep_stream_create_cpu(64, &s), -SEEP_ENOMEM);
    ck_assert_ptr_null(s);
    expect_threads(before);
}
#endif

TEST(a_pool_that_is_given_back_leaves_no_threads)
{
    unsigned before = threads_alive();
    struct seep_stream *s;

    ck_assert_int_eq(seep_stream_create_cpu(5, &s), 0);
    expect_threads(before + 4);
    seep_stream_destroy(s);
    expect_threads(before);
    seep_stream_destroy(NULL);
}

SUITE("stream")
