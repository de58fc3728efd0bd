/* The functions that the shim's hooks replace: those of the next object in the loader's order, so
 * that jemalloc, tcmalloc and their kin are found if the job uses them. */
#ifndef SEEP_PRELOAD_OBJECTS_REAL_H
#define SEEP_PRELOAD_OBJECTS_REAL_H

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

#include "libprof/format/profile_format.h"

#define SEEP_EXPORT __attribute__((visibility("default")))

/* CUDA's records, only in types of functions (preload/cuda/runtime.h). */
struct seep_cuda_pitched;
struct seep_cuda_extent;
struct seep_cuda_channels;
struct seep_cuda_ipc;

struct seep_real {
#define SEEP_HOOK(name, type, parameters) type(*name) parameters;
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
};

enum seep_hook {
#define SEEP_HOOK(name, type, parameters) SEEP_HOOK_##name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
    SEEP_N_HOOKS
};

_Static_assert((int)SEEP_N_HOOKS <= (int)SEEP_MAX_COVERAGE, "a place for each in the profile");

extern struct seep_real seep_real;

/* Finds all of them, by the tables of loaded objects: no call into the loader, which would allocate
 * and wait. Called by the first call of the malloc family, and by the constructor. */
void seep_real_resolve(void);

/* Path of the object that provides malloc, as it was given to the loader. */
extern const char *seep_real_allocator;

/* The real function, for the malloc family, which always has one. The other hooks are of system
 * calls: their callers may hold a lock that an allocation waits for, so they use `seep_real.name`
 * if it is known, and the raw call if it is not (yet). */
#define SEEP_REAL(name)                                                                            \
    (__builtin_expect(!seep_real.name, 0) ? (seep_real_resolve(), seep_real.name) : seep_real.name)

#endif
