#include "viewer/watch/room.h"

#include "viewer/job_limits.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

/* The number after `key` at the beginning of a line of a file; 0: none. With an empty key, the
 * first number. */
static uint64_t number_in(const char *path, const char *key)
{
    char line[256];
    uint64_t found = 0;
    FILE *file = fopen(path, "re");

    while (file && !found && fgets(line, sizeof line, file))
        if (strncmp(line, key, strlen(key)) == 0)
            (void)sscanf(line + strlen(key), "%" SCNu64, &found);
    if (file)
        fclose(file);
    return found;
}

static uint64_t of_group(const struct seep_limits *limits, const char *file, const char *key)
{
    char path[sizeof limits->cgroup_path + 64];

    snprintf(path, sizeof path, "%s/%s", limits->cgroup_path, file);
    return number_in(path, key);
}

static uint64_t left_of(int resource, const char *key)
{
    struct rlimit limit;
    uint64_t used = number_in("/proc/self/status", key) * 1024;

    if (getrlimit(resource, &limit) || limit.rlim_cur == RLIM_INFINITY)
        return UINT64_MAX;
    return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t seep_room_left(void)
{
    struct seep_limits limits;
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:");
    uint64_t left = kib ? kib * 1024 : UINT64_MAX;

    left = least(left, left_of(RLIMIT_AS, "VmSize:"));
    left = least(left, left_of(RLIMIT_DATA, "VmData:"));
    seep_limits_read(&limits);
    if (!limits.cgroup_bytes)
        return left;
    const bool v2 = limits.cgroup_version == 2;
    uint64_t used = of_group(&limits, v2 ? "memory.current" : "memory.usage_in_bytes", "");
    uint64_t files = v2 ? of_group(&limits, "memory.stat", "inactive_file ") +
                              of_group(&limits, "memory.stat", "active_file ")
                        : of_group(&limits, "memory.stat", "total_inactive_file ") +
                              of_group(&limits, "memory.stat", "total_active_file ");
    used -= files < used ? files : used;
    return least(left, limits.cgroup_bytes > used ? limits.cgroup_bytes - used : 0);
}
