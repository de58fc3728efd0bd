/* How a process is read so that it comes to no harm: a copy takes as much of the job's memory again
 * as is written while it lives, and a process that stands still misses what others expect of it. */
#ifndef SEEP_VIEWER_LOOK_LOOK_CHOICE_H
#define SEEP_VIEWER_LOOK_LOOK_CHOICE_H

#include "libprof/base/error.h"
#include "libprof/look/look_course.h"
#include "libprof/runtime/program/memory_room.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum seep_look_way {
    SEEP_LOOK_CHOSEN, /* a copy where one can be made, else it is read while it stands still */
    SEEP_LOOK_BY_COPY,
    SEEP_LOOK_BY_STOP,
    SEEP_LOOK_LIVE, /* it runs on: what changes meanwhile may be missing, or look held by nobody */
};

struct seep_look_case {
    pid_t pid;
    enum seep_look_way asked;
    const char *why_no_copy;      /* NULL: one can be made, if there is room */
    uint64_t anonymous_bytes;     /* what it has resident that is no file's, */
    uint64_t swapped_bytes;       /* and what comes back from swap when it is read */
    uint64_t table_bytes;         /* of its page tables */
    bool beside;                  /* what seep takes counts in the same cgroup */
    struct seep_memory_room room; /* of the process */
};

/* The most that a copy takes of the job's memory: all that the process writes meanwhile is there
 * twice, and may be all that it has. */
uint64_t seep_look_copy_bytes(const struct seep_look_case *c);

/* Whether the job's memory is so short that its copy, which may take `copy_bytes`, must end now:
 * the kernel would have to end something soon. */
bool seep_look_is_short(const struct seep_memory_room *room, uint64_t copy_bytes);

/* For about how long it stands still while it is read, and at most. */
uint64_t seep_look_stop_ns(const struct seep_look_case *c);
uint64_t seep_look_stop_most_ns(const struct seep_look_case *c);

/* The way that is taken: a copy where it can be made and fits; else the process stands still,
 * unless that takes long and was not asked for. *why becomes why there is no copy, "" for nothing.
 * Returns the way, or -SEEP_EIO with what to do in *err. Pure. */
SEEP_MUST_CHECK int seep_look_choose(const struct seep_look_case *c, char why[SEEP_LOOK_WHY],
                                     struct seep_error *err);

#endif
