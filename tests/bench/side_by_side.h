/* A benchmark that runs itself alternately with and without the shim, and compares medians. */
#ifndef SEEP_TESTS_SIDE_BY_SIDE_H
#define SEEP_TESTS_SIDE_BY_SIDE_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { ROUNDS = 5 };

/* What a run measures: other work on the machine moves the clock's time, and less the process's
 * own.
 */
struct times {
    double wall, cpu;
};

static inline double clock_now_ns(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static inline struct times now_ns(void)
{
    return (struct times){clock_now_ns(CLOCK_MONOTONIC), clock_now_ns(CLOCK_PROCESS_CPUTIME_ID)};
}

/* Prints what run_self() reads: ns since `start`, for each of `n` that `threads` did side by side.
 */
static inline void print_since(struct times start, double n, int threads)
{
    struct times now = now_ns();
    printf("%.1f %.1f\n", (now.wall - start.wall) / n, (now.cpu - start.cpu) / n / threads);
}

/* This program, and the shim that was built with it. */
static inline bool find_shim(char self[1024], char shim[1100])
{
    ssize_t n = readlink("/proc/self/exe", self, 1023);
    if (n <= 0)
        return false;
    self[n] = '\0';
    snprintf(shim, 1100, "%.*s/../libseep.so", (int)(strrchr(self, '/') - self), self);
    if (access(shim, R_OK) == 0)
        return true;
    fprintf(stderr, "no %s: run make first\n", shim);
    return false;
}

static inline int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Runs this program with the shim or without, and reads the two numbers that it prints. */
static inline struct times run_self(const char *self, const char *shim, const char *mode,
                                    const char *argument)
{
    char command[4096], dir[] = "/tmp/seep-bench-XXXXXX";
    struct times value = {-1, -1};
    if (!mkdtemp(dir))
        return value;
    snprintf(command, sizeof(command), "%s%s%s%s '%s' %s %s; rm -rf %s", shim ? "SEEP_OUT=" : "",
             shim ? dir : "", shim ? " LD_PRELOAD=" : "", shim ? shim : "", self, mode, argument,
             dir);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return value;
    if (fscanf(pipe, "%lf %lf", &value.wall, &value.cpu) != 2)
        value = (struct times){-1, -1};
    pclose(pipe);
    return value;
}

static inline struct times median(const struct times of[ROUNDS])
{
    double wall[ROUNDS], cpu[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        wall[i] = of[i].wall;
        cpu[i] = of[i].cpu;
    }
    qsort(wall, ROUNDS, sizeof(wall[0]), by_value);
    qsort(cpu, ROUNDS, sizeof(cpu[0]), by_value);
    return (struct times){wall[ROUNDS / 2], cpu[ROUNDS / 2]};
}

static inline void compare(const char *self, const char *shim, const char *mode,
                           const char *argument, struct times *plain, struct times *profiled)
{
    struct times a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        a[i] = run_self(self, NULL, mode, argument);
        b[i] = run_self(self, shim, mode, argument);
    }
    *plain = median(a);
    *profiled = median(b);
}

#endif
