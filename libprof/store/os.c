#include "libprof/store/os.h"

bool seep_os_sandboxed;
uint32_t seep_os_permitted, seep_os_calls, seep_os_masks;

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
    case SYS_exit_group: /* only as the job's own */
        return true;
    default:
        return false;
    }
}

/* Counted before the look at the flag, so that whoever sets it sees the call that is on its way. */
long seep_os_call6(long number, long a, long b, long c, long d, long e, long f)
{
    long result;
    __atomic_fetch_add(&seep_os_calls, 1, __ATOMIC_SEQ_CST);
    if (__builtin_expect(!__atomic_load_n(&seep_os_sandboxed, __ATOMIC_SEQ_CST), 1)) {
        result = seep_os_raw6(number, a, b, c, d, e, f);
        __atomic_fetch_sub(&seep_os_calls, 1, __ATOMIC_SEQ_CST);
        return result;
    }
    __atomic_fetch_sub(&seep_os_calls, 1, __ATOMIC_SEQ_CST);
    return permits(number) ? seep_os_raw6(number, a, b, c, d, e, f) : -EPERM;
}

/* The kernel reads a set of signals before it finds that there is no such way to change it. */
bool seep_os_readable(const void *at)
{
    const long set = (long)((uintptr_t)at & ~(uintptr_t)7);
    if (!set)
        return false; /* the kernel takes it for no set at all */
    if (__atomic_load_n(&seep_os_sandboxed, __ATOMIC_ACQUIRE) &&
        !(__atomic_load_n(&seep_os_permitted, __ATOMIC_RELAXED) & SEEP_OS_PROBE))
        return true;
    return seep_os_raw6(SYS_rt_sigprocmask, SEEP_OS_NO_WAY, set, 0, sizeof(uint64_t), 0, 0) !=
           -EFAULT;
}
