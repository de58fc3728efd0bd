/* The memory limits that a job on this machine is under. */
#ifndef SEEP_VIEWER_JOB_LIMITS_H
#define SEEP_VIEWER_JOB_LIMITS_H

#include <limits.h>
#include <stdint.h>

struct seep_limits {
    uint64_t cgroup_bytes; /* the tightest along the cgroup's path; 0: none */
    int cgroup_version;    /* 1 or 2, 0 where cgroup_bytes is 0 */
    char cgroup_path[256]; /* the folder that sets it, "" for none */
    uint64_t ram_bytes;    /* 0: not known */
    uint64_t oom_kills;    /* processes of this cgroup that the kernel has killed so far for lack of
                            * memory; 0 also where that is unknown */
    char oom_file[PATH_MAX + 64]; /* that counts them, "" for none */
};

/* Reads `proc`, where /proc is, and the cgroups of the calling process. What cannot be read is left
 * 0. Threads: one at a time. Allocates: through stdio. */
void seep_limits_read(const char *proc, struct seep_limits *limits);

/* How many it has killed by now; needs no search for the cgroup. */
uint64_t seep_limits_oom_kills(const struct seep_limits *limits);

/* The tightest of the two, 0 for none; *kind becomes "cgroup-v2", "cgroup-v1", "ram" or "". */
uint64_t seep_limits_tightest(const struct seep_limits *limits, const char **kind);

#endif
