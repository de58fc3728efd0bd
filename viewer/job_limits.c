/* The shim reads limits too (preload/life/process_limits.c): it must not allocate, so it looks only
 * at the usual mount points of hierarchies; and a job may run without a launcher. Both take the
 * same numbers for "no limit". */
#include "viewer/job_limits.h"

#include <inttypes.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sysinfo.h>

/* cgroup v1 writes "no limit" as the largest number of whole pages; no machine has an exabyte. */
#define NO_LIMIT (UINT64_C(1) << 60)

struct hierarchy {
    int version; /* 1: that of memory */
    bool has_path, is_mounted;
    char path[PATH_MAX];  /* of this process, as in /proc/self/cgroup */
    char mount[PATH_MAX]; /* where the hierarchy is mounted */
    char root[PATH_MAX];  /* the folder of the hierarchy that is mounted there */
};

/* mountinfo escapes blanks as \040 and so on. */
static void unescape(char *text)
{
    char *to = text;

    for (const char *p = text; *p; p++) {
        if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
            p[3] >= '0' && p[3] <= '7') {
            *to++ = (char)((p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0'));
            p += 3;
        } else {
            *to++ = *p;
        }
    }
    *to = '\0';
}

static bool in_list(const char *list, const char *word)
{
    size_t n = strlen(word);

    for (const char *p = list; *p; p += strspn(p, ",")) {
        size_t m = strcspn(p, ",\n");
        if (m == n && memcmp(p, word, n) == 0)
            return true;
        p += m;
        if (*p == '\n')
            break;
    }
    return false;
}

/* The lines of both hierarchies in /proc/self/cgroup: "0::/path", and "4:memory:/path" for version
 * 1. */
static void find_paths(struct hierarchy *v1, struct hierarchy *v2)
{
    char line[PATH_MAX + 256];
    FILE *f = fopen("/proc/self/cgroup", "re");

    while (f && fgets(line, sizeof line, f)) {
        char *controllers = strchr(line, ':');
        char *path = controllers ? strchr(controllers + 1, ':') : NULL;
        if (!path)
            continue;
        *controllers++ = '\0';
        *path++ = '\0';
        path[strcspn(path, "\n")] = '\0';
        struct hierarchy *h = !*controllers ? v2 : in_list(controllers, "memory") ? v1 : NULL;
        if (!h || h->has_path)
            continue;
        h->has_path = true;
        snprintf(h->path, sizeof h->path, "%.*s", PATH_MAX - 1, path);
    }
    if (f)
        fclose(f);
}

/* "36 35 98:0 /root /mount options … - type source super-options" */
static void find_mounts(struct hierarchy *v1, struct hierarchy *v2)
{
    char *line = NULL;
    size_t capacity = 0;
    FILE *f = fopen("/proc/self/mountinfo", "re");

    while (f && getline(&line, &capacity, f) > 0) {
        char type[32], super[1024];
        const char *tail = strstr(line, " - ");
        if (!tail || sscanf(tail, " - %31s %*s %1023s", type, super) != 2)
            continue;
        struct hierarchy *h = strcmp(type, "cgroup2") == 0                              ? v2
                              : strcmp(type, "cgroup") == 0 && in_list(super, "memory") ? v1
                                                                                        : NULL;
        if (!h || h->is_mounted)
            continue;
        h->is_mounted = sscanf(line, "%*s %*s %*s %4095s %4095s", h->root, h->mount) == 2;
        unescape(h->root);
        unescape(h->mount);
    }
    if (f)
        fclose(f);
    free(line);
}

static uint64_t read_limit(const char *folder, int version)
{
    char path[2 * PATH_MAX + 64], text[64] = "";
    uint64_t bytes = 0;

    snprintf(path, sizeof path, "%s/%s", folder,
             version == 2 ? "memory.max" : "memory.limit_in_bytes");
    FILE *f = fopen(path, "re");
    if (!f)
        return 0;
    if (fgets(text, sizeof text, f) && sscanf(text, "%" SCNu64, &bytes) != 1)
        bytes = 0; /* "max" */
    fclose(f);
    return bytes >= NO_LIMIT ? 0 : bytes;
}

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

/* False where the folder has no such counter. */
static bool add_oom_kills(struct seep_limits *limits, const char *folder, int version)
{
    enum { MOST = sizeof limits->oom_files / sizeof *limits->oom_files };
    char path[2 * PATH_MAX + 64];
    uint64_t n = 0;

    snprintf(path, sizeof path, "%s/%s", folder,
             version == 2 ? "memory.events" : "memory.oom_control");
    if (!read_oom_kills(path, &n))
        return false;
    limits->oom_kills += n;
    if (limits->n_oom_files < MOST && strlen(path) < sizeof *limits->oom_files)
        strcpy(limits->oom_files[limits->n_oom_files++], path);
    return true;
}

uint64_t seep_limits_oom_kills(const struct seep_limits *limits)
{
    uint64_t sum = 0, n = 0;

    for (unsigned i = 0; i < limits->n_oom_files; i++)
        sum += read_oom_kills(limits->oom_files[i], &n) ? n : 0;
    return sum;
}

/* The part of `path` below `root`, "" for root itself. A container sees only part of the tree, its
 * root, but full paths. NULL where the path lies outside of the mounted part. */
static const char *below_root(const char *path, const char *root)
{
    size_t n = strlen(root);

    while (n && root[n - 1] == '/')
        n--;
    if (strncmp(path, root, n) == 0 && (!path[n] || path[n] == '/'))
        return path + n;
    /* A namespace whose root lies below the mounted folder. */
    return strncmp(root, "/..", 3) == 0 ? "" : NULL;
}

void seep_limits_add_cgroup(struct seep_limits *limits, int version, const char *mount,
                            const char *root, const char *path)
{
    char folder[2 * PATH_MAX];
    const char *below = below_root(path, root);

    if (!below)
        return;
    snprintf(folder, sizeof folder, "%s%s", mount, below);
    size_t mount_bytes = strlen(mount);
    bool counted = false; /* counted in its own folder, or else in the lowest that is visible */
    for (size_t n = strlen(folder); n >= mount_bytes;) {
        while (n > mount_bytes && folder[n - 1] == '/')
            folder[--n] = '\0';
        counted = counted || add_oom_kills(limits, folder, version);
        uint64_t bytes = read_limit(folder, version);
        if (bytes && (!limits->cgroup_bytes || bytes < limits->cgroup_bytes)) {
            limits->cgroup_bytes = bytes;
            limits->cgroup_version = version;
            snprintf(limits->cgroup_path, sizeof limits->cgroup_path, "%.255s", folder);
        }
        if (n == mount_bytes)
            break;
        while (n > mount_bytes && folder[n - 1] != '/')
            n--;
        folder[n] = '\0';
    }
}

void seep_limits_read(struct seep_limits *limits)
{
    struct sysinfo info;

    memset(limits, 0, sizeof *limits);
    if (sysinfo(&info) == 0)
        limits->ram_bytes = (uint64_t)info.totalram * info.mem_unit;
    struct hierarchy all[] = {{.version = 2}, {.version = 1}};
    find_paths(&all[1], &all[0]);
    find_mounts(&all[1], &all[0]);
    for (const struct hierarchy *h = all; h < all + 2; h++)
        if (h->has_path && h->is_mounted)
            seep_limits_add_cgroup(limits, h->version, h->mount, h->root, h->path);
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
