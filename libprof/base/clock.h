/* The kernel's clocks, without clock_gettime(): a library that shows a job another time
 * (libfaketime) is preloaded into the command, too, and times that processes write are compared.
 */
#ifndef SEEP_LIBPROF_BASE_CLOCK_H
#define SEEP_LIBPROF_BASE_CLOCK_H

#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>

#include "libprof/arch/arch.h"

static inline uint64_t seep_clock_ns(clockid_t clock)
{
    struct timespec t = {0};
    const long result = seep_arch_call6(SYS_clock_gettime, clock, (long)&t, 0, 0, 0, 0);

    return result < 0 ? 0 : (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

#endif
