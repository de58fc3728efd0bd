#include "viewer/watch/tmpfs.h"

#include "libprof/base/clock.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_MOUNTS = 512,      /* of the namespace */
    MAX_ENTRIES = 8192,    /* some 15 ms */
    MAX_LEVELS = 16,       /* of directories */
    FEW_FILES = 8,         /* of a directory that counts with the one above */
    WORTH_BYTES = 1 << 20, /* less is not worth a list */
    BLOCK_BYTES = 512,     /* of st_blocks */
};

/* ---- mounts ---------------------------------------------------------------------------------- */

/* A line of /proc/self/mountinfo, see proc_pid_mountinfo(5). Lines come in no order. */
struct mount {
    int id, parent;
    bool is_root, is_tmpfs, is_memory, is_writable;
    char path[SEEP_MEMORY_PATH_BYTES];
};

static bool is_type(const char *type, const char *name)
{
    const size_t n = strlen(name);

    return strncmp(type, name, n) == 0 && type[n] == ' ';
}

/* Paths with blanks are escaped there, and left out. */
static bool parse(const char *line, struct mount *m)
{
    char options[4];
    const char *type = strstr(line, " - ");

    if (!type || sscanf(line, "%d %d %*s %*s %255s %3s", &m->id, &m->parent, m->path, options) != 4)
        return false;
    m->is_root = strcmp(m->path, "/") == 0;
    m->is_tmpfs = is_type(type + 3, "tmpfs");
    m->is_memory = m->is_tmpfs || is_type(type + 3, "devtmpfs");
    m->is_writable = strncmp(options, "rw", 2) == 0;
    return strlen(m->path) < sizeof m->path - 1 && !strchr(m->path, '\\');
}

static uint32_t read_mounts(struct mount *list)
{
    char *line = NULL;
    size_t capacity = 0;
    uint32_t n = 0;
    FILE *in = fopen("/proc/self/mountinfo", "re");

    while (in && n < MAX_MOUNTS && getline(&line, &capacity, in) > 0)
        n += parse(line, &list[n]);
    free(line);
    if (in)
        fclose(in);
    return n;
}

static bool is_covered(const struct mount *list, uint32_t n, const struct mount *m)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].parent == m->id && strcmp(list[i].path, m->path) == 0)
            return true;
    return false;
}

/* Whether its path passes only "/" and mounts in memory. */
static bool is_safe(const struct mount *list, uint32_t n, const struct mount *m, int levels)
{
    for (uint32_t i = 0; i < n; i++)
        if (list[i].id == m->parent)
            return list[i].is_root ||
                   (list[i].is_memory && levels && is_safe(list, n, &list[i], levels - 1));
    return false;
}

/* The same tmpfs may be mounted at several places. */
static bool is_known(const struct seep_tmpfs *t, dev_t device)
{
    for (uint32_t i = 0; i < t->n; i++)
        if (t->mounts[i].device == device)
            return true;
    return false;
}

static bool held_by(const char *path, uint64_t *bytes)
{
    struct statvfs st;

    if (statvfs(path, &st) < 0)
        return false;
    *bytes = st.f_blocks > st.f_bfree ? (uint64_t)(st.f_blocks - st.f_bfree) * st.f_frsize : 0;
    return true;
}

static void add_mount(struct seep_tmpfs *t, const char *path)
{
    struct seep_tmpfs_mount *its = &t->mounts[t->n];
    struct stat st;

    if (t->n == SEEP_TMPFS_MOUNTS || stat(path, &st) < 0 || is_known(t, st.st_dev) ||
        access(path, W_OK | X_OK) < 0 || !held_by(path, &its->first_bytes))
        return;
    its->device = st.st_dev;
    snprintf(its->path, sizeof its->path, "%s", path);
    t->n++;
}

void seep_tmpfs_find(struct seep_tmpfs *t, const char *own)
{
    struct mount *list = calloc(MAX_MOUNTS, sizeof *list);
    const uint32_t n = list ? read_mounts(list) : 0;
    struct stat st;

    *t = (struct seep_tmpfs){.known = true};
    if (*own && stat(own, &st) == 0) {
        t->own_device = st.st_dev;
        t->own_inode = st.st_ino;
    }
    for (uint32_t i = 0; i < n; i++) {
        const struct mount *m = &list[i];
        if (m->is_tmpfs && m->is_writable && !m->is_root && !is_covered(list, n, m) &&
            is_safe(list, n, m, MAX_LEVELS))
            add_mount(t, m->path);
    }
    free(list);
}

uint32_t seep_tmpfs_held_kib(struct seep_tmpfs *t, uint64_t own_bytes)
{
    enum { KIB = 1024 };
    uint64_t sum = 0, its;

    for (uint32_t i = 0; i < t->n; i++)
        sum += held_by(t->mounts[i].path, &its) ? its : 0;
    if (is_known(t, t->own_device))
        sum -= own_bytes < sum ? own_bytes : sum;
    return sum / KIB < UINT32_MAX ? (uint32_t)(sum / KIB) : UINT32_MAX;
}

/* ---- files ----------------------------------------------------------------------------------- */

struct walk {
    const struct seep_tmpfs *tmpfs;
    struct seep_memory_files *out;
    uint64_t since_unix_ns, lasted_ns; /* the job */
    dev_t device;
    uint32_t n_entries;
};

/* A directory while it is read. */
struct level {
    struct seep_memory_folder folder;
    uint64_t largest_bytes;
};

static void tally(struct level *l, const char *name, uint64_t bytes)
{
    l->folder.bytes += bytes;
    l->folder.n_files++;
    if (l->folder.n_files > 1 && bytes <= l->largest_bytes)
        return;
    l->largest_bytes = bytes;
    snprintf(l->folder.largest, sizeof l->folder.largest, "%s", name);
}

static void look_at_file(struct walk *w, const struct stat *st, const char *name, struct level *l)
{
    const uint64_t bytes = (uint64_t)st->st_blocks * BLOCK_BYTES;
    const uint64_t changed_ns =
        (uint64_t)st->st_ctim.tv_sec * 1000000000u + (uint64_t)st->st_ctim.tv_nsec;

    w->out->looked_bytes += bytes;
    if (st->st_uid != geteuid() || changed_ns < w->since_unix_ns)
        return;
    const uint64_t slice =
        (changed_ns - w->since_unix_ns) / (w->lasted_ns / SEEP_MEMORY_SLICES + 1);
    w->out->slice_bytes[slice < SEEP_MEMORY_SLICES ? slice : SEEP_MEMORY_SLICES - 1] += bytes;
    w->out->bytes += bytes;
    w->out->n_files++;
    tally(l, name, bytes);
}

/* The folders with most bytes stay. */
static void add_folder(struct seep_memory_files *out, const struct seep_memory_folder *folder)
{
    struct seep_memory_folder *least = out->folders;

    if (!folder->n_files)
        return;
    if (out->n < SEEP_MEMORY_FOLDERS) {
        out->folders[out->n++] = *folder;
        return;
    }
    for (uint32_t i = 1; i < out->n; i++)
        least = out->folders[i].bytes < least->bytes ? &out->folders[i] : least;
    if (folder->bytes > least->bytes)
        *least = *folder;
}

/* A job may make a directory for each file. */
static void join(struct walk *w, const struct level *below, const char *name, struct level *l)
{
    const struct seep_memory_folder *its = &below->folder;

    if (its->n_files >= FEW_FILES) {
        add_folder(w->out, its);
        return;
    }
    l->folder.bytes += its->bytes;
    l->folder.n_files += its->n_files;
    if (its->n_files && below->largest_bytes >= l->largest_bytes) {
        l->largest_bytes = below->largest_bytes;
        snprintf(l->folder.largest, sizeof l->folder.largest, "%s/%.*s", name,
                 (int)(sizeof l->folder.largest - 2 - strnlen(name, 64)), its->largest);
    }
}

/* What is mounted there, or was put there instead of the directory that was looked at, is not
 * entered. */
static DIR *enter(const struct walk *w, int parent, const char *name)
{
    const int fd =
        openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return NULL;
    const bool is_own = fstat(fd, &st) < 0 ||
                        (st.st_dev == w->tmpfs->own_device && st.st_ino == w->tmpfs->own_inode);
    DIR *dir = is_own || st.st_dev != w->device ? NULL : fdopendir(fd);
    if (!dir)
        close(fd);
    return dir;
}

static void look_into(struct walk *w, DIR *dir, struct level *l, int levels);

static void look_at(struct walk *w, int parent, const char *name, struct level *l, int levels)
{
    struct level below = {0};
    struct stat st;

    if (fstatat(parent, name, &st, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT) < 0 ||
        st.st_dev != w->device)
        return;
    if (S_ISREG(st.st_mode))
        look_at_file(w, &st, name, l);
    if (!S_ISDIR(st.st_mode))
        return;
    const int n =
        snprintf(below.folder.path, sizeof below.folder.path, "%s/%s", l->folder.path, name);
    if (!levels || n >= (int)sizeof below.folder.path) {
        w->out->is_cut = 1;
        return;
    }
    DIR *dir = enter(w, parent, name);
    if (!dir)
        return;
    look_into(w, dir, &below, levels - 1);
    closedir(dir);
    join(w, &below, name, l);
}

static void look_into(struct walk *w, DIR *dir, struct level *l, int levels)
{
    for (const struct dirent *e; (e = readdir(dir));) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
            continue;
        if (w->n_entries++ >= MAX_ENTRIES) {
            w->out->is_cut = 1;
            return;
        }
        look_at(w, dirfd(dir), e->d_name, l, levels);
    }
}

void seep_tmpfs_list(const struct seep_tmpfs *t, const struct seep_job *job,
                     struct seep_memory_files *out)
{
    const uint64_t now_ns = seep_clock_ns(CLOCK_MONOTONIC);
    struct walk w = {.tmpfs = t,
                     .out = out,
                     .since_unix_ns = job->started_unix_ns,
                     .lasted_ns = now_ns - job->started_ns};

    *out = (struct seep_memory_files){.listed_ns = now_ns};
    for (uint32_t i = 0; i < t->n; i++) {
        const struct seep_tmpfs_mount *m = &t->mounts[i];
        struct level top = {0};
        uint64_t bytes;
        if (!held_by(m->path, &bytes) || bytes < m->first_bytes + WORTH_BYTES)
            continue;
        w.device = m->device;
        DIR *dir = enter(&w, AT_FDCWD, m->path);
        if (!dir)
            continue;
        memcpy(top.folder.path, m->path, sizeof top.folder.path);
        look_into(&w, dir, &top, MAX_LEVELS);
        closedir(dir);
        add_folder(out, &top.folder);
    }
}
