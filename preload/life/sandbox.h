/* The job's own seccomp filters: they may kill the process for a call that they do not know. */
#ifndef SEEP_PRELOAD_LIFE_SANDBOX_H
#define SEEP_PRELOAD_LIFE_SANDBOX_H

#include <stdbool.h>

/* The arguments of a call by which a job installs a filter. */
struct seep_filter_call {
    bool strict;        /* SECCOMP_MODE_STRICT */
    bool all_threads;   /* SECCOMP_FILTER_FLAG_TSYNC */
    bool hands_out;     /* a descriptor: SECCOMP_FILTER_FLAG_NEW_LISTENER */
    const void *filter; /* struct sock_fprog, the job's: it may be unreadable */
};

/* The state before the call; for seep_sandbox_after(). */
struct seep_sandbox_before {
    bool entered; /* false: nothing is recorded here */
    unsigned permitted;
    unsigned activity;
    unsigned trouble;
    int trouble_errno;
};

/* A filter is about to be installed in this process: what will be needed later is prepared now.
 * From then on seep makes only calls that the filter is seen to allow, and none if it is `strict`.
 * Before a filter for all threads it waits, for a moment, until the others have finished calls of
 * seep's own. Keeps errno. */
void seep_sandbox_before(const struct seep_filter_call *call, struct seep_sandbox_before *before);

/* The call returned `result`. A failed call (programs test so what the kernel can do) has installed
 * nothing: everything is as before. Keeps errno. */
void seep_sandbox_after(const struct seep_filter_call *call,
                        const struct seep_sandbox_before *before, long result);

/* Says whether this program may be entered; `told`: it runs under a filter that a process of the
 * job has installed, and is then only listed, by calls that any program's start makes. After
 * seep_job_open(). */
bool seep_sandbox_permits(bool told);

#endif
