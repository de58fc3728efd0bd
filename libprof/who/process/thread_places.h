/* Where the threads of a process have their stacks and their variables. From glibc 2.42 on a stack
 * has no inaccessible map below it, so stacks of several threads, and other memory, may share one
 * map. Threads of glibc are found by their lists of robust locks, which the kernel knows and which
 * lie in their descriptors. */
#ifndef SEEP_LIBPROF_WHO_PROCESS_THREAD_PLACES_H
#define SEEP_LIBPROF_WHO_PROCESS_THREAD_PLACES_H

#include "libprof/base/error.h"
#include "libprof/who/graph/process_maps.h"

/* The threads are those of a process; the memory may be that of a copy of it. */
struct seep_thread_source {
    pid_t pid;
    bool (*read)(void *context, uint64_t address, void *to, size_t bytes); /* all of it, or false */
    void *context;
};

/* Makes a map of its own, `alone` and `guarded`, of each stack that shares one. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_thread_stacks_split(const struct seep_thread_source *source,
                                             struct seep_maps *maps);

/* The thread pointer of the first thread; 0: it is not known. */
uint64_t seep_thread_pointer_find(const struct seep_thread_source *source);

#endif
