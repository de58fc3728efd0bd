/* A signal handler may call a hook of a system call, or interrupt it and leave by siglongjmp. So
 * signals wait while the guard is up, except those that an instruction raises, and SIGSYS, by which
 * a sandbox does a system call's work. */
#ifndef SEEP_PRELOAD_HOOKS_SIGNALS_H
#define SEEP_PRELOAD_HOOKS_SIGNALS_H

#include <signal.h>

#include "preload/record/thread.h"

#define SEEP_SIGNAL(number) (UINT64_C(1) << ((number)-1))

/* `*old` is the kernel's previous mask. All ones, which is no valid mask, means that a sandbox kept
 * it unchanged. */
#define SEEP_SIGNALS_LEFT UINT64_MAX

/* Counted before the flag is read, so that a filter waits for the call that restores the mask. A
 * hook that begins in a sandbox makes no such call. */
static inline void seep_signals_block(uint64_t *old)
{
    const uint64_t all = ~(SEEP_SIGNAL(SIGSEGV) | SEEP_SIGNAL(SIGBUS) | SEEP_SIGNAL(SIGFPE) |
                           SEEP_SIGNAL(SIGILL) | SEEP_SIGNAL(SIGTRAP) | SEEP_SIGNAL(SIGSYS));
    *old = SEEP_SIGNALS_LEFT;
    if (__builtin_expect(seep_os_sandboxed, 0))
        return;
    __atomic_fetch_add(&seep_os_inside->masks, 1, __ATOMIC_SEQ_CST);
    if (seep_os_call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)&all, (long)old, sizeof(all), 0, 0) <
        0) {
        *old = SEEP_SIGNALS_LEFT;
        __atomic_fetch_sub(&seep_os_inside->masks, 1, __ATOMIC_SEQ_CST);
    }
}

static inline void seep_signals_restore(const uint64_t *old)
{
    if (__builtin_expect(*old == SEEP_SIGNALS_LEFT, 0))
        return;
    /* Not stopped by a filter that was installed meanwhile: a filter for all threads waits for this
     * one. */
    (void)seep_arch_call6(SYS_rt_sigprocmask, SIG_SETMASK, (long)old, 0, sizeof(*old), 0, 0);
    __atomic_fetch_sub(&seep_os_inside->masks, 1, __ATOMIC_SEQ_CST);
}

/* seep_enter() for hooks of system calls; costs nothing if nothing will be recorded. True: ends
 * with seep_leave_call(). */
static inline bool seep_enter_call(uint64_t *old)
{
    if (*seep_activity == SEEP_OFF || (seep_tls.depth && !seep_enter()))
        return false;
    seep_signals_block(old);
    if (seep_tls.depth)
        return true;
    if (__builtin_expect(seep_enter(), 1))
        return true;
    seep_signals_restore(old);
    return false;
}

static inline void seep_leave_call(const uint64_t *old)
{
    seep_leave();
    seep_signals_restore(old);
}

#endif
