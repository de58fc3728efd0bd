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

static inline double now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
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

/* Runs this program with the shim or without, and reads the number that it prints. */
static inline double run_self(const char *self, const char *shim, const char *mode,
                              const char *argument)
{
    char command[4096], dir[] = "/tmp/seep-bench-XXXXXX";
    double value = -1;
    if (!mkdtemp(dir))
        return value;
    snprintf(command, sizeof(command), "%s%s%s%s '%s' %s %s; rm -rf %s", shim ? "SEEP_OUT=" : "",
             shim ? dir : "", shim ? " LD_PRELOAD=" : "", shim ? shim : "", self, mode, argument,
             dir);
    FILE *pipe = popen(command, "r");
    if (!pipe)
        return value;
    if (fscanf(pipe, "%lf", &value) != 1)
        value = -1;
    pclose(pipe);
    return value;
}

static inline void compare(const char *self, const char *shim, const char *mode,
                           const char *argument, double *plain, double *profiled)
{
    double a[ROUNDS], b[ROUNDS];
    for (int i = 0; i < ROUNDS; i++) {
        a[i] = run_self(self, NULL, mode, argument);
        b[i] = run_self(self, shim, mode, argument);
    }
    qsort(a, ROUNDS, sizeof(a[0]), by_value);
    qsort(b, ROUNDS, sizeof(b[0]), by_value);
    *plain = a[ROUNDS / 2];
    *profiled = b[ROUNDS / 2];
}

#endif
