#include "viewer/look/stop.h"

#include "libprof/base/clock.h"
#include "libprof/base/hash_index.h"
#include "viewer/look/process_stat.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { POLL_NS = 20 * 1000, MAX_THREADS = 1 << 15 };

int seep_stop_wait(pid_t tid, uint64_t deadline_ns)
{
    const struct timespec poll = {.tv_nsec = POLL_NS};
    int status;

    for (;;) {
        pid_t got = waitpid(tid, &status, __WALL | WNOHANG);
        if (got == tid)
            return status;
        if (got < 0 || seep_clock_ns(CLOCK_MONOTONIC) >= deadline_ns)
            return -1;
        nanosleep(&poll, NULL);
    }
}

/* What a stop is: ours, one by the job's own control, or a signal that the thread is about to
 * take. */
static void note_stop(struct seep_stopped_thread *t, int status)
{
    t->stopped = true;
    if (status >> 16 == PTRACE_EVENT_STOP)
        t->by_job = WSTOPSIG(status) != SIGTRAP;
    else
        t->signal = WSTOPSIG(status);
}

static bool is_known(const struct seep_stopped *s, pid_t tid)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->threads[i].tid == tid)
            return true;
    return false;
}

static int refuse(struct seep_error *err, pid_t pid, int why)
{
    if (seep_process_has_ended(pid))
        return seep_error_set(err, SEEP_EIO, "", 0, "process %d has ended", (int)pid);
    if (why == EPERM || why == EACCES)
        return seep_error_set(
            err, SEEP_EIO, "", 0,
            "process %d may not be looked at: run seep as its user, with CAP_SYS_PTRACE, or with "
            "kernel.yama.ptrace_scope at 0 (in a container: --cap-add=SYS_PTRACE); if a debugger "
            "is attached to it, detach that first",
            (int)pid);
    return seep_error_set(err, SEEP_EIO, "", 0, "process %d cannot be stopped (%s)", (int)pid,
                          strerror(why));
}

/* Whether signals of children that end are meant for this thread: those that it made. */
static bool has_children(pid_t pid, pid_t tid)
{
    char path[96];

    snprintf(path, sizeof path, "/proc/%d/task/%d/children", (int)pid, (int)tid);
    FILE *file = fopen(path, "re");
    const bool has = file && fgetc(file) != EOF;
    if (file)
        fclose(file);
    return has;
}

/* A thread that is about to vanish may be traced by nobody. */
static bool is_gone(const struct seep_stopped *s, pid_t tid, int why)
{
    char path[96];

    snprintf(path, sizeof path, "/proc/%d/task/%d", (int)s->pid, (int)tid);
    return why == ESRCH || (why == EPERM && tid != s->pid &&
                            (seep_process_has_ended(tid) || access(path, F_OK) < 0));
}

/* Traces a thread, which runs on. Returns 1: it is a new one; 0: it has ended, or was known. */
static int seize(struct seep_stopped *s, pid_t tid, struct seep_error *err)
{
    if (is_known(s, tid))
        return 0;
    if (s->n >= MAX_THREADS || seep_grow(&s->threads, &s->capacity, s->n + 1, sizeof *s->threads))
        return -SEEP_ENOMEM;
    if (ptrace(PTRACE_SEIZE, tid, NULL, NULL) < 0)
        return is_gone(s, tid, errno) ? 0 : refuse(err, s->pid, errno);
    s->threads[s->n++] =
        (struct seep_stopped_thread){.tid = tid, .is_parent = has_children(s->pid, tid)};
    return 1;
}

/* One pass over the threads that there are. Returns how many were new, or an error. */
static int seize_new(struct seep_stopped *s, struct seep_error *err)
{
    char path[64];
    int n = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)s->pid);
    DIR *directory = opendir(path);
    if (!directory)
        return seep_error_set(err, SEEP_EIO, "", 0, "there is no process %d", (int)s->pid);
    for (struct dirent *entry; n >= 0 && (entry = readdir(directory));) {
        const pid_t tid = (pid_t)strtol(entry->d_name, NULL, 10);
        int rc = tid > 0 ? seize(s, tid, err) : 0;
        n = rc < 0 ? rc : n + rc;
    }
    closedir(directory);
    return n;
}

/* Threads that ended meanwhile are left out. */
static int wait_all(struct seep_stopped *s, uint64_t deadline_ns, struct seep_error *err)
{
    size_t n = 0;
    bool late = false;

    for (size_t i = 0; i < s->n; i++) {
        struct seep_stopped_thread *t = &s->threads[i];
        if (!t->stopped) {
            const int status = seep_stop_wait(t->tid, deadline_ns);
            if (status >= 0 && !WIFSTOPPED(status))
                continue;
            late = late || status < 0;
            if (status >= 0)
                note_stop(t, status);
        }
        s->threads[n++] = *t;
    }
    s->n = n;
    return late ? seep_error_set(err, SEEP_EIO, "", 0,
                                 "process %d does not stop in time: it waits in the kernel, as for "
                                 "a disk or in vfork(); try again",
                                 (int)s->pid)
                : 0;
}

static int stop_traced(struct seep_stopped *s, uint64_t deadline_ns, struct seep_error *err)
{
    for (size_t i = 0; i < s->n; i++)
        if (!s->threads[i].stopped)
            (void)ptrace(PTRACE_INTERRUPT, s->threads[i].tid, NULL, NULL);
    return wait_all(s, deadline_ns, err);
}

int seep_stop(struct seep_stopped *s, pid_t pid, uint64_t deadline_ns, struct seep_error *err)
{
    int n, n_new = 0, rc = 0;

    sigset_t all;

    *s = (struct seep_stopped){.pid = pid, .since_ns = seep_clock_ns(CLOCK_MONOTONIC)};
    sigfillset(&all);
    (void)sigprocmask(SIG_SETMASK, &all, &s->signals);
    /* A signal that a traced thread would ignore is queued, and goes to another one where that
     * thread stands still. So none does before all are traced. */
    do { /* who is asked may have begun others before it stopped */
        while ((n = seize_new(s, err)) > 0)
            n_new += n;
        rc = n;
        if (!rc && n_new)
            rc = stop_traced(s, deadline_ns, err);
        n = n_new;
        n_new = 0;
    } while (!rc && n > 0);
    if (!rc && !s->n)
        rc = seep_error_set(err, SEEP_EIO, "", 0, "process %d has ended", (int)pid);
    if (rc)
        (void)seep_stop_end(s);
    return rc;
}

bool seep_stop_registers(pid_t tid, struct user_regs_struct *regs)
{
    struct iovec all = {regs, sizeof *regs};

    return ptrace(PTRACE_GETREGSET, tid, (void *)NT_PRSTATUS, &all) == 0 &&
           all.iov_len == sizeof *regs;
}

bool seep_stop_set_registers(pid_t tid, const struct user_regs_struct *regs)
{
    struct user_regs_struct copy = *regs;
    struct iovec all = {&copy, sizeof copy};

    return ptrace(PTRACE_SETREGSET, tid, (void *)NT_PRSTATUS, &all) == 0;
}

/* Some calls end with EINTR where a thread is only stopped (signal(7)); the kernel's word for "as
 * if it had not been, unless a handler runs" lets it restart them. */
static bool ends_by_a_stop(long call)
{
    switch (call) {
#ifdef SYS_epoll_wait
    case SYS_epoll_wait:
#endif
    case SYS_epoll_pwait:
#ifdef SYS_epoll_pwait2
    case SYS_epoll_pwait2:
#endif
    case SYS_rt_sigtimedwait:
    case SYS_semop:
    case SYS_semtimedop:
    case SYS_msgrcv:
    case SYS_msgsnd:
    case SYS_io_getevents:
#ifdef SYS_io_pgetevents
    case SYS_io_pgetevents:
#endif
#ifdef SYS_io_uring_enter
    case SYS_io_uring_enter:
#endif
        return true;
    default:
        return false;
    }
}

static void restart_call(pid_t tid)
{
    enum { ERESTARTNOHAND = 514 };
    struct user_regs_struct regs;

    if (!seep_stop_registers(tid, &regs) || seep_arch_result(&regs) != -EINTR ||
        seep_arch_call_made(&regs) < 0 || !ends_by_a_stop(seep_arch_call_made(&regs)))
        return;
    seep_arch_set_result(&regs, -ERESTARTNOHAND);
    (void)seep_stop_set_registers(tid, &regs);
}

static void let_go(struct seep_stopped_thread *t)
{
    if (!t->stopped) { /* it was asked to stop, and must have before it can be let go of */
        (void)ptrace(PTRACE_INTERRUPT, t->tid, NULL, NULL);
        const int status = seep_stop_wait(t->tid, seep_clock_ns(CLOCK_MONOTONIC) + 1000000000u);
        if (status < 0 || !WIFSTOPPED(status))
            return;
        note_stop(t, status);
    }
    if (!t->by_job) /* what is traced is interrupted by signals that it ignores, too */
        restart_call(t->tid);
    (void)ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->signal);
}

/* Those first that signals are meant for: to who is still traced they would be no longer ignored,
 * and interrupt others. */
uint64_t seep_stop_end(struct seep_stopped *s)
{
    for (int parents = 1; parents >= 0; parents--)
        for (size_t i = 0; i < s->n; i++)
            if ((s->threads[i].tid == s->pid || s->threads[i].is_parent) == (parents == 1))
                let_go(&s->threads[i]);
    const uint64_t ns = s->since_ns ? seep_clock_ns(CLOCK_MONOTONIC) - s->since_ns : 0;
    if (s->since_ns)
        (void)sigprocmask(SIG_SETMASK, &s->signals, NULL);
    free(s->threads);
    *s = (struct seep_stopped){0};
    return ns;
}
