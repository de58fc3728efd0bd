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
    char oom_files[2][PATH_MAX]; /* that count them, one of each hierarchy */
    unsigned n_oom_files;
};

/* Reads /proc and the cgroup file systems of the calling process. What cannot be read is left 0.
 * Threads: any. Allocates: through stdio. */
void seep_limits_read(struct seep_limits *limits);

/* How many it has killed by now; needs no search for the cgroup. */
uint64_t seep_limits_oom_kills(const struct seep_limits *limits);

/* Adds the limits and kills of one hierarchy, from the cgroup's folder at `path` up to the mount:
 * each folder may set a limit. `root` is the folder of the hierarchy that is mounted at `mount`; a
 * path outside of it adds nothing. */
void seep_limits_add_cgroup(struct seep_limits *limits, int version, const char *mount,
                            const char *root, const char *path);

/* The tightest of the two, 0 for none; *kind becomes "cgroup-v2", "cgroup-v1", "ram" or "". */
uint64_t seep_limits_tightest(const struct seep_limits *limits, const char **kind);

#endif
