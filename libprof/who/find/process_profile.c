#include "libprof/who/find/process_profile.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "libprof/who/find/process_profile.h"

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

/* ---- with those whose stacks it inherits ----------------------------------------------------- */

enum { MAX_ANCESTORS = 64 };

static int open_one(const char *dir, const char *name, struct seep_profile **out,
                    struct seep_error *err)
{
    char path[SEEP_PATH_BYTES + SEEP_NAME_BYTES];

    snprintf(path, sizeof path, "%s/%s", dir, name);
    int rc = seep_profile_open(path, out, err);
    if (rc)
        return rc;
    rc = seep_profile_load(*out, err);
    if (rc) {
        seep_profile_close(*out);
        *out = NULL;
    }
    return rc;
}

/* If an ancestor is missing, the stacks inherited from it stay unknown. A parent began earlier than
 * its child, so no circle of names is followed. */
static void open_ancestors(const char *dir, struct seep_profile *profile)
{
    for (int i = 0; i < MAX_ANCESTORS; i++) {
        struct seep_error ignored = {0};
        struct seep_profile *parent = NULL;
        const char *name = seep_profile_parent_name(profile);
        if (!name || open_one(dir, name, &parent, &ignored))
            return;
        if (parent->header->start_ns >= profile->header->start_ns) {
            seep_profile_close(parent);
            return;
        }
        profile->parent = parent;
        profile = parent;
    }
}

static void name_profile(char name[SEEP_NAME_BYTES], uint32_t pid, uint64_t start_ns)
{
    snprintf(name, SEEP_NAME_BYTES, "%" PRIu32 "-%" PRIx64 SEEP_PROFILE_SUFFIX, pid, start_ns);
}

uint64_t seep_profile_chain_bytes(const char *dir, uint32_t pid, uint64_t start_ns)
{
    char name[SEEP_NAME_BYTES], path[SEEP_PATH_BYTES + SEEP_NAME_BYTES];
    struct stat st;

    name_profile(name, pid, start_ns);
    snprintf(path, sizeof path, "%s/%s", dir, name);
    return stat(path, &st) == 0 ? (uint64_t)st.st_blocks * 512 : 0;
}

int seep_profile_chain_open(const char *dir, uint32_t pid, uint64_t start_ns,
                            struct seep_profile **out, struct seep_error *err)
{
    char name[SEEP_NAME_BYTES];

    name_profile(name, pid, start_ns);
    int rc = open_one(dir, name, out, err);
    if (!rc)
        open_ancestors(dir, *out);
    return rc;
}

void seep_profile_chain_close(struct seep_profile *profile)
{
    while (profile) {
        struct seep_profile *parent = profile->parent;
        seep_profile_close(profile);
        profile = parent;
    }
}
