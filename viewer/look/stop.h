/* Stops all threads of another process with ptrace, and resumes them unchanged: their waits go on,
 * and signals that came meanwhile are delivered. */
#ifndef SEEP_VIEWER_LOOK_STOP_H
#define SEEP_VIEWER_LOOK_STOP_H

#include "libprof/arch/traced.h"
#include "libprof/base/error.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct seep_stopped_thread {
    pid_t tid;
    int signal;     /* that it was about to take, 0: none */
    bool by_job;    /* it had been stopped by others, as by ^Z, and stays so */
    bool stopped;   /* false: it is still to be waited for */
    bool is_parent; /* it has made children, of whose ends it is told */
};

struct seep_stopped {
    pid_t pid;
    struct seep_stopped_thread *threads; /* [n] */
    size_t n, capacity;
    uint64_t since_ns; /* CLOCK_MONOTONIC */
    sigset_t signals;  /* that were blocked here before */
};

/* Stops all threads, those too that begin meanwhile, before `deadline_ns` (CLOCK_MONOTONIC). Until
 * seep_stop_end() the caller takes no signal: ended or stopped by ^C or ^Z, it would leave the
 * process behind with changed registers, or standing.
 * Returns 0; -SEEP_EIO: it may not be traced, and *err says what would help; -SEEP_EIO: it is
 * gone, or does not stop, as in vfork(), and runs on; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_stop(struct seep_stopped *stopped, pid_t pid, uint64_t deadline_ns,
                              struct seep_error *err);

/* Lets go of it; may be called of what was not stopped. Returns for how many ns it stood still. */
uint64_t seep_stop_end(struct seep_stopped *stopped);

#define SEEP_STOP_NO_DEADLINE UINT64_MAX

/* Waits for a stop of a thread that is traced, at most so long. Returns its status; −1: there was
 * none. */
int seep_stop_wait(pid_t tid, uint64_t deadline_ns);

/* The registers of a thread that stands still. False: it is gone, or runs code that is not of 64
 * bits. */
bool seep_stop_registers(pid_t tid, struct user_regs_struct *regs);
bool seep_stop_set_registers(pid_t tid, const struct user_regs_struct *regs);

#endif
