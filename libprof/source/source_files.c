#include "libprof/source/source_files.h"

#include "libprof/base/hash_index.h"
#include "libprof/base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MAX_ALL_BYTES = 32 << 20 };

static bool is_python(const char *path)
{
    const size_t n = strlen(path);

    return n > 3 && strcmp(path + n - 3, ".py") == 0;
}

static uint64_t changed_ns(const struct stat *st)
{
    return st->st_mtim.tv_sec < 0
               ? UINT64_MAX
               : (uint64_t)st->st_mtim.tv_sec * 1000000000u + (uint64_t)st->st_mtim.tv_nsec;
}

/* The whole file of `size` bytes, or NULL. */
static char *read_all(int fd, size_t size)
{
    char *bytes = malloc(size + 1);
    size_t n = 0;

    while (bytes && n < size) {
        const ssize_t got = read(fd, bytes + n, size - n);
        if (got > 0) {
            n += (size_t)got;
        } else if (got == 0 || errno != EINTR) {
            free(bytes);
            return NULL;
        }
    }
    return bytes;
}

/* The file's content, its length in *n; NULL if it may not be what ran. */
static char *read_file(const char *path, uint64_t before_unix_ns, size_t *n)
{
    struct stat st;
    char *bytes = NULL;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    if (fd < 0)
        return NULL;
    if (!fstat(fd, &st) && S_ISREG(st.st_mode) && st.st_size <= SEEP_SOURCE_MAX_BYTES &&
        changed_ns(&st) < before_unix_ns) {
        *n = (size_t)st.st_size;
        bytes = read_all(fd, *n);
    }
    close(fd);
    return bytes;
}

int seep_source_files_add(struct seep_source_files *files, uint32_t name, const char *path,
                          const char *cwd, uint64_t before_unix_ns)
{
    size_t n = 0;

    if (!is_python(path) || files->n >= SEEP_SOURCE_MAX_FILES || (*path != '/' && *cwd != '/'))
        return 0;
    char *whole =
        seep_text_format("%s%s%s", *path == '/' ? "" : cwd, *path == '/' ? "" : "/", path);
    if (!whole)
        return -SEEP_ENOMEM;
    char *bytes = read_file(whole, before_unix_ns, &n);
    free(whole);
    if (!bytes || files->bytes + n > MAX_ALL_BYTES) {
        free(bytes);
        return 0;
    }
    if (seep_grow(&files->list, &files->capacity, files->n + 1, sizeof *files->list)) {
        free(bytes);
        return -SEEP_ENOMEM;
    }
    struct seep_source_file *file = &files->list[files->n++];
    *file = (struct seep_source_file){.name = name, .bytes = bytes};
    files->bytes += n;
    const int rc = seep_python_source_read(&file->source, bytes, n);
    if (rc)
        seep_source_files_drop(files);
    return rc == -SEEP_ENOMEM ? rc : 0;
}

void seep_source_files_drop(struct seep_source_files *files)
{
    struct seep_source_file *file = &files->list[--files->n];

    seep_python_source_fini(&file->source);
    free(file->bytes);
}

void seep_source_files_fini(struct seep_source_files *files)
{
    while (files->n)
        seep_source_files_drop(files);
    free(files->list);
    *files = (struct seep_source_files){0};
}

const struct seep_source_file *seep_source_files_find(const struct seep_source_files *files,
                                                      uint32_t name)
{
    for (size_t i = 0; i < files->n; i++)
        if (files->list[i].name == name)
            return &files->list[i];
    return NULL;
}
