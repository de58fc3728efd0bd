/* A hook of a system call may be called by a signal handler, or interrupted by one that leaves by
 * siglongjmp: while the guard is up there, signals wait. Those that an instruction raises do not,
 * nor SIGSYS, by which a sandbox does a system call's work. */
#ifndef SEEP_PRELOAD_HOOKS_SIGNALS_H
#define SEEP_PRELOAD_HOOKS_SIGNALS_H

#include <signal.h>

#include "preload/record/thread.h"

#define SEEP_SIGNAL(number) (UINT64_C(1) << ((number)-1))

/* `*old` is the kernel's mask as it was; all ones, which no mask is: a sandbox has left it alone.
 */
#define SEEP_SIGNALS_LEFT UINT64_MAX

/* Counted before the flag is read, so that a filter waits for the call by which the mask comes
 * back. What begins in a sandbox makes none. */
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
    /* Not held up by a filter that came meanwhile: one for all threads waits for this one. */
    (void)seep_os_raw6(SYS_rt_sigprocmask, SIG_SETMASK, (long)old, 0, sizeof(*old), 0, 0);
    __atomic_fetch_sub(&seep_os_inside->masks, 1, __ATOMIC_SEQ_CST);
}

/* seep_enter() for hooks of system calls; where nothing will be recorded, it costs nothing. True:
 * ends with seep_leave_call(). */
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
