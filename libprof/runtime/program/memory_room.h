/* How much more memory a process may take before a limit is reached: the least that is left over
 * all limits, not what the lowest limit leaves. Runtime part: allocates nothing, keeps errno;
 * static buffers, so one thread at a time. */
#ifndef SEEP_LIBPROF_RUNTIME_PROGRAM_MEMORY_ROOM_H
#define SEEP_LIBPROF_RUNTIME_PROGRAM_MEMORY_ROOM_H

#include <stdbool.h>
#include <stdint.h>

#include "libprof/runtime/program/memory_cgroups.h"

enum seep_memory_limit {
    SEEP_MEMORY_NO_LIMIT,
    SEEP_MEMORY_RAM,           /* MemAvailable */
    SEEP_MEMORY_COMMIT,        /* CommitLimit, where the kernel commits no more than that */
    SEEP_MEMORY_CGROUP,        /* memory.max, or memory.limit_in_bytes */
    SEEP_MEMORY_CGROUP_HIGH,   /* memory.high, above which the kernel makes all of it wait */
    SEEP_MEMORY_CGROUP_SWAP,   /* memory.memsw.limit_in_bytes: of memory and swap together */
    SEEP_MEMORY_ADDRESS_SPACE, /* RLIMIT_AS */
    SEEP_MEMORY_DATA,          /* RLIMIT_DATA */
};

struct seep_memory_room {
    uint64_t left_bytes;            /* before the nearest limit; SEEP_MEMORY_NO_NUMBER: there is
                                     * none */
    enum seep_memory_limit nearest; /* the limit that leaves that, */
    uint64_t limit_bytes;           /* and how large it is; 0: not known */
    bool kills_group;  /* a limit that is reached may kill all of a cgroup (memory.oom.group) */
    bool group_unseen; /* the process's cgroup cannot be seen from here: it may have less */
};

/* Reads it for process `pid`, or 0 for this one, whose own limits (setrlimit) count too. `proc`:
 * where /proc is. Pages of files count as left where they can be dropped at once: not shared
 * memory, nor what is still to be written. Swap does not count as left: what must go there first
 * makes the job wait. Asks the kernel, which takes some 200 µs. */
void seep_memory_room_read(const char *proc, uint32_t pid, struct seep_memory_room *room);

/* Whether `bytes` more fit. The job goes on meanwhile: an eighth more is left to it, and at least
 * 8 MiB; where a limit that is reached kills all of a cgroup, half more, and at least 32 MiB. */
bool seep_memory_room_fits(const struct seep_memory_room *room, uint64_t bytes);

/* The most that fits so; SEEP_MEMORY_NO_NUMBER: there is no limit. */
uint64_t seep_memory_room_most(const struct seep_memory_room *room);

/* From now on the kernel kills this process, and those that it starts, before others when memory is
 * short. False: it does not let it say so. */
bool seep_memory_volunteer(void);

/* "the cgroup's limit (memory.max)"; "" for SEEP_MEMORY_NO_LIMIT. */
const char *seep_memory_limit_text(enum seep_memory_limit limit);

#endif
