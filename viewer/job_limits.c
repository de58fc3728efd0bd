#include "viewer/job_limits.h"

#include "libprof/runtime/program/memory_cgroups.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysinfo.h>

/* False where the file has no such counter. */
static bool read_oom_kills(const char *file, uint64_t *kills)
{
    char line[128];
    bool counted = false;
    FILE *f = fopen(file, "re");

    while (f && !counted && fgets(line, sizeof line, f))
        counted = sscanf(line, "oom_kill %" SCNu64, kills) == 1;
    if (f)
        fclose(f);
    return counted;
}

/* They are counted in the process's own cgroup, or else in the lowest that counts them. */
static void find_oom_kills(struct seep_limits *limits, const struct seep_memory_cgroup *group)
{
    if (limits->oom_file[0])
        return;
    snprintf(limits->oom_file, sizeof limits->oom_file, "%s/%s", group->folder,
             group->version == 2 ? "memory.events" : "memory.oom_control");
    if (!read_oom_kills(limits->oom_file, &limits->oom_kills))
        limits->oom_file[0] = '\0';
}

static void add_group(const struct seep_memory_cgroup *group, void *limits_given)
{
    struct seep_limits *limits = limits_given;
    const uint64_t bytes = seep_memory_cgroup_limit(group);

    find_oom_kills(limits, group);
    if (!bytes || (limits->cgroup_bytes && bytes >= limits->cgroup_bytes))
        return;
    limits->cgroup_bytes = bytes;
    limits->cgroup_version = group->version;
    snprintf(limits->cgroup_path, sizeof limits->cgroup_path, "%.255s", group->folder);
}

void seep_limits_read(const char *proc, struct seep_limits *limits)
{
    struct sysinfo info;

    memset(limits, 0, sizeof *limits);
    if (sysinfo(&info) == 0)
        limits->ram_bytes = (uint64_t)info.totalram * info.mem_unit;
    (void)seep_memory_cgroups_visit(proc, 0, add_group, limits);
}

uint64_t seep_limits_oom_kills(const struct seep_limits *limits)
{
    uint64_t n = 0;

    return read_oom_kills(limits->oom_file, &n) ? n : 0;
}

uint64_t seep_limits_tightest(const struct seep_limits *limits, const char **kind)
{
    uint64_t cgroup = limits->cgroup_bytes, ram = limits->ram_bytes;

    if (cgroup && (!ram || cgroup < ram)) {
        *kind = limits->cgroup_version == 2 ? "cgroup-v2" : "cgroup-v1";
        return cgroup;
    }
    *kind = ram ? "ram" : "";
    return ram;
}
