/* The cgroups that a process's memory is charged to: its own, and each above it that can be seen
 * here. Runtime part: allocates nothing, keeps errno; static buffers, so one thread at a time. */
#ifndef SEEP_LIBPROF_RUNTIME_PROGRAM_MEMORY_CGROUPS_H
#define SEEP_LIBPROF_RUNTIME_PROGRAM_MEMORY_CGROUPS_H

#include <stdbool.h>
#include <stdint.h>

/* No number: the file is not there, says "max", or has the number that version 1 writes for "no
 * limit", which is at least 2^60. */
#define SEEP_MEMORY_NO_NUMBER UINT64_MAX

enum { SEEP_MEMORY_CGROUP_BYTES = 4096 };

struct seep_memory_cgroup {
    int version; /* 1 or 2 */
    char folder[SEEP_MEMORY_CGROUP_BYTES];
};

/* Called for each cgroup, from the process's own upwards to where the hierarchy is mounted. */
typedef void seep_memory_cgroup_visitor(const struct seep_memory_cgroup *group, void *arg);

/* Visits the cgroups of process `pid`, 0 for this one, in the hierarchy that has the memory.
 * `proc`: where /proc is. The folders are found through what is mounted here, also where only part
 * of the hierarchy can be seen. Returns false if the process is in no cgroup that can be seen from
 * here. */
bool seep_memory_cgroups_visit(const char *proc, uint32_t pid, seep_memory_cgroup_visitor *visit,
                               void *arg);

/* The text of a file of the cgroup, "" if it cannot be read; until the next call. */
const char *seep_memory_cgroup_text(const struct seep_memory_cgroup *group, const char *file);

/* The number that a file of the cgroup begins with. */
uint64_t seep_memory_cgroup_number(const struct seep_memory_cgroup *group, const char *file);

/* Its limit of memory; 0: none. */
uint64_t seep_memory_cgroup_limit(const struct seep_memory_cgroup *group);

/* The number after `key` at the beginning of a line of a text; 0: there is no such line. */
uint64_t seep_memory_number_after(const char *text, const char *key);

/* Reads PROC/NAME, "" if it cannot be read; until the next call of any of these. */
const char *seep_memory_proc_text(const char *proc, const char *name);

#endif
