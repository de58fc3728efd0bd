/* Where the threads of a process have their stacks and their variables. From glibc 2.42 on a stack
 * has no inaccessible map below it, so stacks of several threads, and other memory, may share one
 * map. Threads of glibc are found by their lists of robust locks, which the kernel knows and which
 * lie in their descriptors. */
#ifndef SEEP_LIBPROF_WHO_FIND_THREAD_PLACES_H
#define SEEP_LIBPROF_WHO_FIND_THREAD_PLACES_H

#include "libprof/who/find/remote.h"

/* Makes a map of its own, `alone` and `guarded`, of each stack that shares one. `remote` is the
 * process remote->files, or a copy of it. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_thread_stacks_split(struct seep_remote *remote, struct seep_maps *maps);

/* The thread pointer of its first thread; 0: it is not known. */
uint64_t seep_thread_pointer_find(struct seep_remote *remote);

#endif
