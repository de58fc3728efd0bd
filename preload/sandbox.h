/* A job that is about to forbid itself system calls. */
#ifndef SEEP_PRELOAD_SANDBOX_H
#define SEEP_PRELOAD_SANDBOX_H

/* The job is about to set a seccomp filter, for one thread or all. Called outside the guard. */
void seep_sandbox_before(void);

#endif
