#include "libprof/who/merge/holders_folder.h"

#include "libprof/base/hash_index.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is said ------------------------------------------------------------------------ */

static int say(struct seep_holders_files *files, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static int say(struct seep_holders_files *files, const char *format, ...)
{
    va_list args;
    char *text;

    if (seep_grow(&files->said, &files->said_capacity, files->n_said + 1, sizeof *files->said))
        return -SEEP_ENOMEM;
    va_start(args, format);
    if (vasprintf(&text, format, args) < 0)
        text = NULL;
    va_end(args);
    if (!text)
        return -SEEP_ENOMEM;
    files->said[files->n_said++] = text;
    return 0;
}

static int say_what_is_left_out(struct seep_holders_files *files,
                                const struct seep_holders_snapshot *s)
{
    int rc = 0;

    if (s->n_wrong)
        rc = say(files, "%s: %zu part%s damaged and left out", s->file, s->n_wrong,
                 s->n_wrong == 1 ? " is" : "s are");
    if (!rc && s->n_left_out)
        rc = say(files, "%s: its %zu smallest lines are left out: this seep reads %d", s->file,
                 s->n_left_out, SEEP_HOLDERS_MAX_LINES);
    return rc;
}

static bool is_incomplete(const struct seep_holders_snapshot *s, const char *why_not)
{
    return !s->complete && strcmp(s->why_not, why_not) == 0;
}

int seep_holders_say_incomplete(struct seep_holders_files *files)
{
    int rc = 0;

    for (size_t i = 0; i < files->n && !rc; i++) {
        const struct seep_holders_snapshot *s = &files->list[i];
        size_t more = 0;
        bool said = s->complete;
        for (size_t k = 0; k < i && !said; k++)
            said = is_incomplete(&files->list[k], s->why_not);
        for (size_t k = i + 1; k < files->n && !said; k++)
            more += is_incomplete(&files->list[k], s->why_not);
        char others[32] = "";
        if (more)
            snprintf(others, sizeof others, " and %zu more", more);
        if (!said)
            rc = say(files, "%s%s: the holders of memory are incomplete%s%s", s->file, others,
                     s->why_not[0] ? ": " : "", s->why_not);
    }
    return rc;
}

/* ---- files ------------------------------------------------------------------------------- */

int seep_holders_add(struct seep_holders_files *files, uint32_t folder, const char *file,
                     const char *bytes, size_t n)
{
    struct seep_error why = {0};

    if (seep_grow(&files->list, &files->capacity, files->n + 1, sizeof *files->list))
        return -SEEP_ENOMEM;
    struct seep_holders_snapshot *s = &files->list[files->n];
    int rc = seep_holders_read(file, bytes, n, s, &why);
    s->folder = folder;
    if (!rc && !(rc = say_what_is_left_out(files, s))) {
        files->n++;
        return 0;
    }
    seep_holders_snapshot_fini(s);
    return rc == -SEEP_ENOMEM ? rc : say(files, "%s: %s", file, why.text);
}

/* The whole of a regular file, to *bytes (free() it); else a reason why not. */
static const char *read_file(int dir, const char *name, char **bytes, size_t *n)
{
    struct stat st;
    const char *why = NULL;
    int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW);

    *bytes = NULL;
    *n = 0;
    if (fd < 0)
        return strerror(errno);
    if (fstat(fd, &st) || !S_ISREG(st.st_mode))
        why = "not a regular file";
    else if (st.st_size > SEEP_HOLDERS_MAX_FILE_BYTES)
        why = "larger than 16 MiB";
    else if (!(*bytes = malloc((size_t)st.st_size + 1)))
        why = "no memory";
    while (!why && *n < (size_t)st.st_size) {
        ssize_t got = read(fd, *bytes + *n, (size_t)st.st_size - *n);
        if (got < 0 && errno != EINTR)
            why = strerror(errno);
        if (got == 0)
            break; /* it has become shorter: uses what is there */
        *n += got > 0 ? (size_t)got : 0;
    }
    close(fd);
    return why;
}

static bool is_snapshot(const char *name)
{
    unsigned pid, step;
    int end = 0;

    return strlen(name) < 64 && sscanf(name, "holders-%9u-%10u.json%n", &pid, &step, &end) == 2 &&
           end && !name[end];
}

static int filter(const struct dirent *entry)
{
    return is_snapshot(entry->d_name);
}

static int add_file(struct seep_holders_files *files, uint32_t folder, int dir, const char *name,
                    size_t *left)
{
    char *bytes;
    size_t n;
    const char *why = read_file(dir, name, &bytes, &n);
    int rc;

    if (!why && n > *left)
        why = "the other snapshots fill the space that a report has for them";
    if (why) {
        rc = say(files, "%s: %s", name, why);
    } else {
        *left -= n;
        rc = seep_holders_add(files, folder, name, bytes, n);
    }
    free(bytes);
    return rc;
}

static int add_folder(struct seep_holders_files *files, uint32_t folder, const char *path,
                      size_t *left)
{
    struct dirent **names = NULL;
    int dir = open(path, O_RDONLY | O_CLOEXEC | O_DIRECTORY);
    int n = dir >= 0 ? scandirat(dir, ".", &names, filter, alphasort) : 0;
    int rc = 0;

    for (int i = 0; i < n; i++) {
        if (!rc && files->n < SEEP_HOLDERS_MAX_FILES)
            rc = add_file(files, folder, dir, names[i]->d_name, left);
        else if (!rc && i + 1 == n)
            rc = say(files, "%s: a report takes fewer snapshots: the rest is left out", path);
        free(names[i]);
    }
    free(names);
    if (dir >= 0)
        close(dir);
    return rc;
}

/* ---- folders ----------------------------------------------------------------------------- */

int seep_holders_by_process(const struct seep_holders_snapshot *a,
                            const struct seep_holders_snapshot *b)
{
    if (a->folder != b->folder)
        return a->folder < b->folder ? -1 : 1;
    if (a->process != b->process)
        return a->process < b->process ? -1 : 1;
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static int by_step(const void *a, const void *b)
{
    const struct seep_holders_snapshot *p = a, *q = b;
    int order = seep_holders_by_process(p, q);

    return order ? order : (p->step > q->step) - (p->step < q->step);
}

/* Whether dirs[i] is the same folder as an earlier one, under any name. */
static bool is_repeated(const char *const *dirs, size_t i)
{
    struct stat st, other;

    for (size_t k = 0; k < i && !stat(dirs[i], &st); k++) {
        if (!stat(dirs[k], &other) && st.st_dev == other.st_dev && st.st_ino == other.st_ino)
            return true;
    }
    return false;
}

int seep_holders_open(const char *const *dirs, size_t n_dirs, struct seep_holders_files *files)
{
    size_t left = SEEP_HOLDERS_MAX_BYTES;
    int rc = 0;

    *files = (struct seep_holders_files){0};
    for (size_t i = 0; i < n_dirs && !rc; i++) {
        if (!is_repeated(dirs, i))
            rc = add_folder(files, (uint32_t)i, dirs[i], &left);
    }
    if (files->n)
        qsort(files->list, files->n, sizeof *files->list, by_step);
    return rc;
}

void seep_holders_files_fini(struct seep_holders_files *files)
{
    for (size_t i = 0; i < files->n; i++)
        seep_holders_snapshot_fini(&files->list[i]);
    for (size_t i = 0; i < files->n_said; i++)
        free(files->said[i]);
    free(files->list);
    free(files->said);
    *files = (struct seep_holders_files){0};
}
