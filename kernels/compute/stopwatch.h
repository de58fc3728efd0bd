/* The one clock of benchmarks and of measurements in scenarios. */
#ifndef SEEP_KERNELS_CLOCK_H
#define SEEP_KERNELS_CLOCK_H

#include <time.h>

/* Of CLOCK_MONOTONIC, CLOCK_THREAD_CPUTIME_ID and the like. */
static inline double seep_clock_s(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline double seep_clock_ms(void)
{
    return 1e3 * seep_clock_s(CLOCK_MONOTONIC);
}

#endif
