#include "libprof/runtime/store/os.h"

#include <sys/uio.h>

bool seep_os_sandboxed;
uint32_t seep_os_permitted;

/* In a page that is written to anyway. */
static __attribute__((section(".data"))) struct seep_os_inside before_start;
struct seep_os_inside *seep_os_inside = &before_start;

#ifdef SEEP_CHECKED
__thread uint32_t seep_os_ranks_held;
#endif

static bool permits(long number)
{
    const uint32_t permitted = __atomic_load_n(&seep_os_permitted, __ATOMIC_RELAXED);
    switch (number) {
    case SYS_mmap:
        return permitted & SEEP_OS_MMAP;
    case SYS_munmap:
        return permitted & SEEP_OS_MUNMAP;
    case SYS_futex:
        return permitted & SEEP_OS_FUTEX;
    case SYS_exit_group: /* only as the job's own call */
        return true;
    default:
        return false;
    }
}

#ifndef MADV_HUGEPAGE
#define MADV_HUGEPAGE 14
#endif

void *seep_os_table(size_t bytes)
{
    if (bytes < SEEP_HUGE_PAGE)
        return seep_os_pages(bytes);
    char *room = seep_os_map_private(bytes + SEEP_HUGE_PAGE, 0);
    if (!room)
        return seep_os_pages(bytes);
    const size_t before = -(uintptr_t)room % SEEP_HUGE_PAGE, after = SEEP_HUGE_PAGE - before;
    char *table = room + before;
    if (before)
        (void)seep_os_call3(SYS_munmap, (long)room, (long)before, 0);
    (void)seep_os_call3(SYS_munmap, (long)(table + bytes), (long)after, 0);
    (void)seep_os_call3(SYS_madvise, (long)table, (long)bytes, MADV_HUGEPAGE);
    seep_own_add(table, bytes);
    return table;
}

/* A thread that changes the generation either finds this count, or is noticed here, and then the
 * call counts for the next generation. */
uint32_t seep_os_begin(void)
{
    for (;;) {
        const uint32_t generation = __atomic_load_n(&seep_os_inside->generation, __ATOMIC_SEQ_CST);
        __atomic_fetch_add(&seep_os_inside->calls[generation & 1], 1, __ATOMIC_SEQ_CST);
        if (__atomic_load_n(&seep_os_inside->generation, __ATOMIC_SEQ_CST) == generation)
            return generation;
        seep_os_end(generation);
    }
}

void seep_os_end(uint32_t generation)
{
    __atomic_fetch_sub(&seep_os_inside->calls[generation & 1], 1, __ATOMIC_SEQ_CST);
}

static bool is_settled(uint32_t generation)
{
    return __atomic_load_n(&seep_os_inside->calls[generation & 1], __ATOMIC_SEQ_CST) <= 0 &&
           __atomic_load_n(&seep_os_inside->masks, __ATOMIC_SEQ_CST) <= 0;
}

bool seep_os_settle(uint64_t patience_ns, bool sleeps)
{
    enum { SPINS = 1 << 26 }; /* if there is no clock */
    const uint32_t old = __atomic_fetch_add(&seep_os_inside->generation, 1, __ATOMIC_SEQ_CST);
    const uint64_t start_ns = seep_os_clock_ns(CLOCK_MONOTONIC);
    for (uint64_t n = 0; !is_settled(old); n++) {
        const struct timespec moment = {.tv_nsec = 1000 * 1000};
        if (seep_os_clock_ns(CLOCK_MONOTONIC) - start_ns > patience_ns ||
            n >= (sleeps ? patience_ns / 1000000 : SPINS))
            return false;
        if (sleeps)
            (void)seep_arch_call6(SYS_nanosleep, (long)&moment, 0, 0, 0, 0, 0);
        else
            seep_arch_pause();
    }
    return true;
}

long seep_os_call6(long number, long a, long b, long c, long d, long e, long f)
{
    const uint32_t generation = seep_os_begin();
    long result = -EPERM;
    if (__builtin_expect(!__atomic_load_n(&seep_os_sandboxed, __ATOMIC_SEQ_CST), 1) ||
        permits(number))
        result = seep_arch_call6(number, a, b, c, d, e, f);
    seep_os_end(generation);
    return result;
}

/* The kernel reads a set of signals before it notices that `how` is invalid. */
bool seep_os_readable(const void *at)
{
    const long set = (long)((uintptr_t)at & ~(uintptr_t)7);
    if (!set)
        return false; /* the kernel takes it for no set at all */
    const uint32_t generation = seep_os_begin();
    bool readable = true;
    if (!__atomic_load_n(&seep_os_sandboxed, __ATOMIC_SEQ_CST) ||
        __atomic_load_n(&seep_os_permitted, __ATOMIC_RELAXED) & SEEP_OS_PROBE)
        readable = seep_arch_call6(SYS_rt_sigprocmask, SEEP_OS_INVALID_HOW, set, 0,
                                   sizeof(uint64_t), 0, 0) != -EFAULT;
    seep_os_end(generation);
    return readable;
}

bool seep_os_is_blind;

/* No descriptor is kept: the job would meet it. */
static size_t read_by_file(uintptr_t from, void *to, size_t bytes)
{
    const int fd = seep_os_open("/proc/self/mem", O_RDONLY, 0);
    if (fd < 0) {
        __atomic_store_n(&seep_os_is_blind, true, __ATOMIC_RELAXED);
        return 0;
    }
    const long n = seep_os_call6(SYS_pread64, fd, (long)to, (long)bytes, (long)from, 0, 0);
    seep_os_close(fd);
    return n > 0 ? (size_t)n : 0;
}

size_t seep_os_read_memory(uintptr_t from, void *to, size_t bytes)
{
    static bool no_call; /* gVisor before 2023, and the profile of older Dockers */
    struct iovec here = {to, bytes}, there = {(void *)from, bytes};
    if (__atomic_load_n(&seep_os_sandboxed, __ATOMIC_RELAXED) ||
        __atomic_load_n(&seep_os_is_blind, __ATOMIC_RELAXED))
        return 0;
    if (!__atomic_load_n(&no_call, __ATOMIC_RELAXED)) {
        const long n =
            seep_os_call6(SYS_process_vm_readv, seep_os_pid(), (long)&here, 1, (long)&there, 1, 0);
        if (n >= 0)
            return (size_t)n;
        if (n != -ENOSYS && n != -EPERM)
            return 0;
        __atomic_store_n(&no_call, true, __ATOMIC_RELAXED);
    }
    return read_by_file(from, to, bytes);
}
