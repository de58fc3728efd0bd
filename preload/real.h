/* The functions that the shim stands in front of: RTLD_NEXT, so that jemalloc, tcmalloc and their
 * kin are found when they are under the job. */
#ifndef SEEP_PRELOAD_REAL_H
#define SEEP_PRELOAD_REAL_H

#include <sched.h>
#include <semaphore.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <sys/wait.h>

#include "libprof/format.h"

#define SEEP_EXPORT __attribute__((visibility("default")))

struct seep_real {
#define SEEP_HOOK(name, type, parameters) type(*name) parameters;
#include "preload/hooks.def"
#undef SEEP_HOOK
};

enum seep_hook {
#define SEEP_HOOK(name, type, parameters) SEEP_HOOK_##name,
#include "preload/hooks.def"
#undef SEEP_HOOK
    SEEP_N_HOOKS
};

_Static_assert((int)SEEP_N_HOOKS <= (int)SEEP_MAX_COVERAGE, "a place for each in the profile");

extern struct seep_real seep_real;

/* Resolves all of them; called by the first hook that finds its pointer empty, and by the
 * constructor. */
void seep_real_resolve(void);
void seep_real_after_fork(void);

/* While they are being resolved, dlsym may allocate: a static pool serves it. */
void *seep_bootstrap_take(size_t bytes, size_t align);
bool seep_bootstrap_owns(const void *p);
size_t seep_bootstrap_size(const void *p);

/* The real function, or NULL where it is not there (yet). */
#define SEEP_REAL(name)                                                                            \
    (__builtin_expect(!seep_real.name, 0) ? (seep_real_resolve(), seep_real.name) : seep_real.name)

#endif
