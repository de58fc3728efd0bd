/* The functions that the shim stands in front of: those of the next object in the loader's order,
 * so that jemalloc, tcmalloc and their kin are found when they are under the job. */
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

/* Records of CUDA, in types of functions only (preload/cuda/cuda.h). */
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

/* Finds all of them, by the tables of what is loaded: no call into the loader, which would allocate
 * and wait. Called by the first call of the malloc family, and by the constructor. */
void seep_real_resolve(void);

/* Path of the object that malloc comes from, as the loader was given it. */
extern const char *seep_real_allocator;

/* The real function, for the malloc family, which always has one. The other hooks are system calls:
 * who makes them may hold what an allocation waits for, so they take `seep_real.name` where it is
 * known, and the raw call where it is not (yet). */
#define SEEP_REAL(name)                                                                            \
    (__builtin_expect(!seep_real.name, 0) ? (seep_real_resolve(), seep_real.name) : seep_real.name)

#endif
