/* A thread that watches how much memory is left while a process is looked at: to the job, whose
 * copy it ends before the kernel has to end something, and to seep itself, which may be in the
 * job's own cgroup. */
#ifndef SEEP_VIEWER_LOOK_ROOM_WATCH_H
#define SEEP_VIEWER_LOOK_ROOM_WATCH_H

#include "libprof/base/error.h"
#include "libprof/runtime/program/memory_room.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct seep_room_watch {
    pthread_t thread;
    pthread_mutex_t lock; /* for all that follows, and for reading rooms */
    pthread_cond_t wake;
    pid_t pid, copy;     /* the latter 0: there is none */
    uint64_t copy_bytes; /* the most that it may take */
    bool ends;
    bool ended_copy;      /* the job's memory was short */
    bool may_exit;        /* nothing of the process has to be put back */
    atomic_bool is_short; /* seep's own memory is: what takes any must give up */
};

/* Begins to watch. Returns 0 or -SEEP_ENOMEM: no thread can be made. */
SEEP_MUST_CHECK int seep_room_watch_begin(struct seep_room_watch *watch, pid_t pid);
void seep_room_watch_end(struct seep_room_watch *watch);

/* There is a copy now, which may take so much of the job's memory. Before its pid may be another's:
 * copy 0. */
void seep_room_watch_copy(struct seep_room_watch *watch, pid_t copy, uint64_t copy_bytes);

/* From now on, where seep's own memory becomes short it says so and ends. */
void seep_room_watch_may_exit(struct seep_room_watch *watch);

/* The room of process `pid`, 0 for this one, as seep_memory_room_read(). */
void seep_room_watch_read(struct seep_room_watch *watch, pid_t pid, struct seep_memory_room *room);

#endif
