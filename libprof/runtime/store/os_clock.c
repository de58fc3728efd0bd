/* The kernel's clocks, from its own code in every process (the vDSO): libraries replace
 * clock_gettime() to show a job another time, and seep counts steps by this clock. */
#include <sys/auxv.h>

#include "libprof/arch/arch.h"
#include "libprof/runtime/store/os.h"
#include "libprof/runtime/store/vdso.h"

typedef int clock_fn(clockid_t clock, struct timespec *t);

static clock_fn *in_vdso;
static bool is_linux;
static uint32_t looked;
static uint64_t last_known_ns;

static clock_fn *vdso(void)
{
    if (!__atomic_load_n(&looked, __ATOMIC_ACQUIRE)) {
        struct seep_vdso own;
        (void)seep_vdso_read(&own, getauxval(AT_SYSINFO_EHDR));
        clock_fn *const found = (clock_fn *)seep_vdso_function(&own, SEEP_ARCH_CLOCK);
        __atomic_store_n(&in_vdso, found, __ATOMIC_RELAXED);
        __atomic_store_n(&is_linux, own.is_linux, __ATOMIC_RELAXED);
        __atomic_store_n(&looked, 1, __ATOMIC_RELEASE);
    }
    return __atomic_load_n(&in_vdso, __ATOMIC_RELAXED);
}

/* Linux's vDSO can read these clocks whatever the machine's clock source is. Only the kernel knows
 * a thread's CPU time: elapsed time stands in for it. Another kernel's vDSO may make the call for
 * them, which a sandbox may not allow. */
static clockid_t coarse(clockid_t clock)
{
    return clock == CLOCK_REALTIME ? CLOCK_REALTIME_COARSE : CLOCK_MONOTONIC_COARSE;
}

static bool is_in_vdso(clockid_t clock)
{
    return clock != CLOCK_THREAD_CPUTIME_ID && clock != CLOCK_PROCESS_CPUTIME_ID;
}

/* Uses a call of seep's own. False: the sandbox does not allow it. */
static bool ask_kernel(clockid_t clock, struct timespec *t)
{
    const uint32_t generation = seep_os_begin();
    const bool sandboxed = __atomic_load_n(&seep_os_sandboxed, __ATOMIC_SEQ_CST);
    if (!sandboxed)
        (void)seep_arch_call6(SYS_clock_gettime, clock, (long)t, 0, 0, 0, 0);
    seep_os_end(generation);
    return !sandboxed;
}

uint64_t seep_os_clock_ns(clockid_t clock)
{
    struct timespec t = {0};
    clock_fn *const fast = vdso();
    clock_fn *const never_calls = __atomic_load_n(&is_linux, __ATOMIC_RELAXED) ? fast : NULL;
    const bool sandboxed = __atomic_load_n(&seep_os_sandboxed, __ATOMIC_RELAXED);
    if (fast && !sandboxed && is_in_vdso(clock))
        (void)fast(clock, &t);
    else if (sandboxed || !ask_kernel(clock, &t)) {
        if (!never_calls)
            return __atomic_load_n(&last_known_ns, __ATOMIC_RELAXED);
        (void)never_calls(coarse(clock), &t);
    }
    const uint64_t now_ns = (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
    if (!never_calls && (clock == CLOCK_MONOTONIC || clock == CLOCK_MONOTONIC_COARSE))
        __atomic_store_n(&last_known_ns, now_ns, __ATOMIC_RELAXED);
    return now_ns;
}
