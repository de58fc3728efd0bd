#include "libprof/who/find/process_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* "/folder/4711-2231df2c033b.seep" */
static bool take_name(struct seep_process_profile *profile, const char *path, const char *slash)
{
    const size_t n = (size_t)(slash - path);
    char *end;

    profile->pid = (uint32_t)strtoul(slash + 1, &end, 10);
    if (end == slash + 1 || *end != '-')
        return false;
    profile->start_ns = strtoull(end + 1, &end, 16);
    if (strcmp(end, SEEP_PROFILE_SUFFIX) != 0 || n >= sizeof profile->folder)
        return false;
    memcpy(profile->folder, path, n);
    profile->folder[n] = '\0';
    return true;
}

static bool is_file(const char *path, uint64_t inode)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == inode;
}

/* In another root (a container's) the same path may be another file. */
static bool take_as_seen(struct seep_process_profile *profile, const char *file, uint64_t inode,
                         pid_t pid)
{
    char there[SEEP_PATH_BYTES + SEEP_NAME_BYTES];
    const int n = snprintf(there, sizeof there, "/proc/%d/root%s", (int)pid, file);

    for (int i = 0; i < 2; i++) {
        const char *path = i ? there : file;
        const char *slash = strrchr(path, '/');
        struct seep_error ignored = {0};
        struct seep_profile *opened;
        if ((i && (n < 0 || (size_t)n >= sizeof there)) || !take_name(profile, path, slash) ||
            !is_file(path, inode) || seep_profile_open(path, &opened, &ignored))
            continue;
        profile->live = opened->header->live;
        seep_profile_close(opened);
        return true;
    }
    return false;
}

void seep_process_profile_find(struct seep_process_profile *profile, const struct seep_maps *maps,
                               pid_t pid)
{
    struct seep_process_profile one;

    *profile = (struct seep_process_profile){0};
    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        const char *file = seep_maps_file(maps, map), *dot = strrchr(file, '.');
        if (!map->shared || !dot || strcmp(dot, SEEP_PROFILE_SUFFIX) != 0 ||
            (profile->folder[0] && profile->pid == (uint32_t)pid))
            continue;
        one = (struct seep_process_profile){0};
        if (take_as_seen(&one, file, map->inode, pid) &&
            (!profile->folder[0] || one.pid == (uint32_t)pid))
            *profile = one;
    }
}
