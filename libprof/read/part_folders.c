#include "libprof/read/part_folders.h"

#include "libprof/base/hash_index.h"
#include "libprof/base/text.h"
#include "libprof/format/profile_format.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_FOLDERS = 4096, MAX_NAMES = 4096, DEPTH = 2 };

struct search {
    struct seep_part_folders *found;
    size_t capacity;
    size_t n_looked; /* folders looked into */
    bool no_memory;
};

/* What a folder has that matters here. */
struct contents {
    bool is_unreadable, holds_profile, has_more;
    char **names; /* of the folders in it, in their order */
    size_t n, capacity;
};

static bool ends_with(const char *name, const char *end)
{
    const size_t n = strlen(name), k = strlen(end);

    return n > k && strcmp(name + n - k, end) == 0;
}

static bool is_folder(int dir_fd, const char *name)
{
    struct stat st;

    return fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void contents_fini(struct contents *c)
{
    for (size_t i = 0; i < c->n; i++)
        free(c->names[i]);
    free(c->names);
}

static void keep_name(struct search *s, struct contents *c, const char *name)
{
    c->has_more = c->n == MAX_NAMES;
    char *copy = c->has_more ? NULL : strdup(name);

    if (c->has_more)
        return;
    if (copy && seep_grow(&c->names, &c->capacity, c->n + 1, sizeof *c->names) == 0) {
        c->names[c->n++] = copy;
    } else {
        free(copy);
        s->no_memory = true;
    }
}

static void look_into(struct search *s, const char *dir, struct contents *c)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *stream = fd >= 0 ? fdopendir(fd) : NULL;

    *c = (struct contents){.is_unreadable = !stream};
    if (!stream && fd >= 0)
        close(fd);
    for (struct dirent *e; stream && (e = readdir(stream));) {
        if (e->d_name[0] == '.')
            continue;
        if (strcmp(e->d_name, SEEP_JOB_FILE) == 0 || ends_with(e->d_name, SEEP_PROFILE_SUFFIX))
            c->holds_profile = true;
        else if (e->d_type == DT_DIR || (e->d_type == DT_UNKNOWN && is_folder(fd, e->d_name)))
            keep_name(s, c, e->d_name);
    }
    if (stream)
        closedir(stream);
    if (c->n)
        qsort(c->names, c->n, sizeof *c->names, by_name);
}

/* Takes dir over. */
static void add(struct search *s, char *dir)
{
    struct seep_part_folders *found = s->found;

    if (dir && found->n < MAX_FOLDERS &&
        seep_grow(&found->dirs, &s->capacity, found->n + 1, sizeof *found->dirs) == 0) {
        found->dirs[found->n++] = dir;
        return;
    }
    s->no_memory |= !dir || found->n < MAX_FOLDERS;
    found->more |= found->n == MAX_FOLDERS;
    free(dir);
}

static char *path_in(const char *dir, const char *name)
{
    const size_t n = strlen(dir);

    return seep_text_format("%s%s%s", dir, n && dir[n - 1] == '/' ? "" : "/", name);
}

/* Whether the folder's table says that it is a part of the one above. */
static bool is_part(const char *dir)
{
    char *path = path_in(dir, SEEP_JOB_FILE);
    int fd = path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW) : -1;
    uint64_t magic = 0;
    uint32_t part = 0;
    struct stat st;

    free(path);
    if (fd < 0)
        return false;
    const bool is =
        fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
        pread(fd, &magic, sizeof magic, 0) == sizeof magic &&
        pread(fd, &part, sizeof part, offsetof(struct seep_job, is_part)) == sizeof part &&
        magic == SEEP_JOB_MAGIC && part == 1;
    close(fd);
    return is;
}

static void add_parts(struct search *s, const char *dir, const struct contents *c)
{
    for (size_t i = 0; i < c->n && !s->no_memory; i++) {
        char *path = path_in(dir, c->names[i]);
        if (!path || is_part(path))
            add(s, path);
        else
            free(path);
    }
}

/* Adds what the folder stands for. Returns whether a profile is in there. */
static bool search(struct search *s, const char *dir, int depth)
{
    struct contents c;
    bool holds = false;

    if (s->n_looked++ >= MAX_FOLDERS) {
        s->found->more = true;
        return false;
    }
    look_into(s, dir, &c);
    s->found->more |= c.has_more && !c.holds_profile;
    const size_t n_before = s->found->n;
    if (c.holds_profile || c.is_unreadable) {
        add(s, strdup(dir));
        add_parts(s, dir, &c);
        holds = c.holds_profile;
    }
    for (size_t i = 0; i < c.n && !c.holds_profile && depth < DEPTH && !s->no_memory; i++) {
        char *path = path_in(dir, c.names[i]);
        if (path)
            holds |= search(s, path, depth + 1);
        else
            s->no_memory = true;
        free(path);
    }
    while (!holds && !c.is_unreadable && s->found->n > n_before) /* unreadable ones, no others */
        free(s->found->dirs[--s->found->n]);
    contents_fini(&c);
    return holds;
}

int seep_part_folders_find(const char *const *given, size_t n_given,
                           struct seep_part_folders *found)
{
    struct search s = {.found = found};

    *found = (struct seep_part_folders){0};
    for (size_t i = 0; i < n_given && !s.no_memory; i++) {
        const size_t n_before = found->n;
        (void)search(&s, given[i], 0);
        if (found->n == n_before)
            add(&s, strdup(given[i]));
    }
    return s.no_memory ? -SEEP_ENOMEM : 0;
}

void seep_part_folders_fini(struct seep_part_folders *found)
{
    for (size_t i = 0; i < found->n; i++)
        free(found->dirs[i]);
    free(found->dirs);
    *found = (struct seep_part_folders){0};
}
