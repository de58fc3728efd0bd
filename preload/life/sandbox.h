/* Seccomp filters of the job's own: they may kill for a call that they do not know. */
#ifndef SEEP_PRELOAD_LIFE_SANDBOX_H
#define SEEP_PRELOAD_LIFE_SANDBOX_H

#include <stdbool.h>

/* What a call by which a job locks itself in has to say. */
struct seep_lock_in {
    bool strict;        /* SECCOMP_MODE_STRICT */
    bool all_threads;   /* SECCOMP_FILTER_FLAG_TSYNC */
    bool hands_out;     /* a descriptor: SECCOMP_FILTER_FLAG_NEW_LISTENER */
    const void *filter; /* struct sock_fprog, the job's: it may be unreadable */
};

/* What was so before; for seep_sandbox_after(). */
struct seep_sandbox_before {
    bool entered; /* false: nothing is recorded here */
    unsigned permitted;
    unsigned activity;
    unsigned trouble;
    int trouble_errno;
};

/* A filter is about to be installed in this process: what will be needed is got now. From then on
 * seep makes no call but those that the filter is seen to allow, and none where it is `strict`.
 * With a filter for all threads it waits, for a moment, until the others are through with calls of
 * seep's own. errno stays. */
void seep_sandbox_before(const struct seep_lock_in *call, struct seep_sandbox_before *before);

/* The call gave `result`. One that has failed (programs ask so what the kernel can do) has
 * installed nothing: all is as it was. errno stays. */
void seep_sandbox_after(const struct seep_lock_in *call, const struct seep_sandbox_before *before,
                        long result);

/* Says whether this program may be entered; `told`: it runs under a filter that a process of the
 * job has installed, and is then only listed, by calls that any program's start makes. After
 * seep_job_open(). */
bool seep_sandbox_permits(bool told);

#endif
