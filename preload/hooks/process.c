/* Hooks of what begins and ends processes; those of exec are in exec.c. A forked child needs none:
 * it notices the fork by a page that the kernel has cleared (start.c). vfork is left alone for the
 * same reason. */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "preload/hooks/signals.h"
#include "preload/job/job.h"
#include "preload/life/start.h"
#include "preload/objects/modules.h"
#include "preload/objects/real.h"
#include "preload/record/thread.h"
#include "preload/snapshot/snapshot.h"

#define UNAVAILABLE(name) (__builtin_expect(!seep_real.name, 0) && (errno = ENOSYS))

SEEP_EXPORT pid_t fork(void)
{
    if (UNAVAILABLE(fork))
        return -1;
    uint64_t mask;
    if (seep_enter_call(&mask)) {
        seep_note_hook(SEEP_HOOK_fork);
        seep_leave_call(&mask);
    }
    pid_t pid = seep_real.fork();
    if (pid > 0 && seep_os_sandboxed && seep_enter_call(&mask)) {
        /* It may not ask for its pid. */
        seep_job_note_sandboxed((uint32_t)pid, seep_process->pid, seep_process->name);
        seep_leave_call(&mask);
    }
    return pid;
}

/* Only the process that waits for a child learns how it ended. */
static void reaped(pid_t pid, int status)
{
    int saved_errno = errno;
    uint64_t mask;
    if (pid > 0 && (WIFEXITED(status) || WIFSIGNALED(status)) && seep_enter_call(&mask)) {
        seep_job_reaped(pid, status);
        seep_leave_call(&mask);
    }
    errno = saved_errno;
}

static void reaped_info(const siginfo_t *info)
{
    if (info->si_signo != SIGCHLD)
        return;
    if (info->si_code == CLD_EXITED)
        reaped(info->si_pid, (info->si_status & 0xff) << 8);
    else if (info->si_code == CLD_KILLED || info->si_code == CLD_DUMPED)
        reaped(info->si_pid, info->si_status & 0x7f);
}

static bool is_recording(void)
{
    return seep_is_recording() && !seep_tls.depth;
}

/* Notes the hook for coverage: one store, which needs no guard. */
static void note_wait(enum seep_hook hook)
{
    if (is_recording())
        seep_note_hook(hook);
}

/* Asks how a child ended before the job takes it from the kernel: killed in between, this process
 * would take the knowledge with it; so the child is left to whoever inherits it. Never waits: what
 * wakes this thread is the job's own call, so that it has the child before a handler of SIGCHLD
 * runs that takes all there are. Who is killed as that call returns leaves a child of unknown end.
 * A filter may know the job's call alone: it is not asked then. */
static void note_end(idtype_t type, id_t id)
{
    siginfo_t info = {0};
    int saved_errno = errno;
    if (is_recording() && seep_os_call6(SYS_waitid, (long)type, (long)id, (long)&info,
                                        WEXITED | WNOWAIT | WNOHANG, 0, 0) == 0)
        reaped_info(&info);
    errno = saved_errno;
}

/* Only plain waits: not for groups, stopped children or clones. */
static void note_end_of_pid(pid_t pid, int options)
{
    if (!(options & ~WNOHANG) && (pid == -1 || pid > 0))
        note_end(pid == -1 ? P_ALL : P_PID, pid == -1 ? 0 : (id_t)pid);
}

SEEP_EXPORT pid_t wait4(pid_t pid, int *status, int options, struct rusage *usage)
{
    int own = 0;
    if (UNAVAILABLE(wait4))
        return -1;
    note_wait(SEEP_HOOK_wait4);
    note_end_of_pid(pid, options);
    pid_t found = seep_real.wait4(pid, status ? status : &own, options, usage);
    if (found > 0)
        reaped(found, status ? *status : own);
    return found;
}

SEEP_EXPORT pid_t waitpid(pid_t pid, int *status, int options)
{
    int own = 0;
    if (UNAVAILABLE(waitpid))
        return -1;
    note_wait(SEEP_HOOK_waitpid);
    note_end_of_pid(pid, options);
    pid_t found = seep_real.waitpid(pid, status ? status : &own, options);
    if (found > 0)
        reaped(found, status ? *status : own);
    return found;
}

SEEP_EXPORT pid_t wait(int *status)
{
    return waitpid(-1, status, 0);
}

SEEP_EXPORT pid_t wait3(int *status, int options, struct rusage *usage)
{
    return wait4(-1, status, options, usage);
}

SEEP_EXPORT int waitid(idtype_t type, id_t id, siginfo_t *info, int options)
{
    if (UNAVAILABLE(waitid))
        return -1;
    note_wait(SEEP_HOOK_waitid);
    siginfo_t own = {0};
    if ((options & ~WNOHANG) == WEXITED)
        note_end(type, id);
    int result = seep_real.waitid(type, id, info ? info : &own, options);
    if (result == 0)
        reaped_info(info ? info : &own);
    return result;
}

/* An interpreter that ends restores all signals before it tears down its modules, and nothing
 * earlier in it can be hooked. A child of vfork restores signals, too, but makes no copy: its
 * thread, the parent's, still has Python frames. */
SEEP_EXPORT int sigaction(int number, const struct sigaction *action, struct sigaction *old)
{
    uint64_t mask;
    if (UNAVAILABLE(sigaction))
        return -1;
    if (action && action->sa_handler == SIG_DFL && is_recording() && seep_enter_call(&mask)) {
        seep_note_hook(SEEP_HOOK_sigaction);
        seep_snapshot_python_ends(seep_tls.thread);
        seep_leave_call(&mask);
    }
    return seep_real.sigaction(number, action, old);
}

static void ending(enum seep_hook hook, uint32_t kind, int value)
{
    uint64_t mask;
    if (!seep_enter_call(&mask)) {
        if (seep_activity_now() == SEEP_IDLE)
            seep_start_list();
        return;
    }
    seep_note_hook(hook);
    if (hook == SEEP_HOOK__exit)
        seep_snapshot_last(seep_tls.thread);
    seep_end(kind, value);
    seep_leave_call(&mask);
}

SEEP_EXPORT void _exit(int status)
{
    ending(SEEP_HOOK__exit, SEEP_EXIT_EXIT, status & 0xff);
    if (seep_real._exit)
        seep_real._exit(status);
    for (;;)
        (void)seep_os_call3(SYS_exit_group, status, 0, 0);
}

SEEP_EXPORT void _Exit(int status)
{
    _exit(status);
}

SEEP_EXPORT void quick_exit(int status)
{
    ending(SEEP_HOOK_quick_exit, SEEP_EXIT_EXIT, status & 0xff);
    if (seep_real.quick_exit)
        seep_real.quick_exit(status);
    _exit(status);
}

SEEP_EXPORT void abort(void)
{
    ending(SEEP_HOOK_abort, SEEP_EXIT_SIGNAL, SIGABRT);
    if (seep_real.abort)
        seep_real.abort();
    for (;;)
        __builtin_trap();
}

/* What is loaded next may get the same addresses. */
SEEP_EXPORT int dlclose(void *library)
{
    if (!seep_real.dlclose)
        return -1;
    int result = seep_real.dlclose(library);
    int saved_errno = errno;
    if (seep_enter()) {
        seep_note_hook(SEEP_HOOK_dlclose);
        seep_modules_closed();
        seep_leave();
    }
    errno = saved_errno;
    return result;
}
