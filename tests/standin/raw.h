/* System calls made directly: a stand-in takes a device's memory past all functions that a profiler
 * intercepts, as the real driver does. */
#ifndef SEEP_STANDIN_RAW_H
#define SEEP_STANDIN_RAW_H

#include "libprof/arch/arch.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

static inline void *raw_map_at(void *at, size_t size, int prot, int flags, int fd)
{
    long m = seep_arch_call6(SYS_mmap, (long)at, (long)size, prot, flags, fd, 0);
    return m < 0 && m > -4096 ? NULL : (void *)m;
}

static inline void *raw_map(size_t size, int prot, int flags)
{
    return raw_map_at(NULL, size, prot, flags | MAP_ANONYMOUS | MAP_NORESERVE, -1);
}

static inline void raw_unmap(void *at, size_t size)
{
    seep_arch_call6(SYS_munmap, (long)at, (long)size, 0, 0, 0, 0);
}

#endif
