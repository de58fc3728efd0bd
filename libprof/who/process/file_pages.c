#include "libprof/who/process/file_pages.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_file(const char *path, uint64_t inode)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == inode;
}

bool seep_mapped_file(pid_t pid, const char *file, uint64_t inode, char path[SEEP_MAPPED_PATH])
{
    int n = snprintf(path, SEEP_MAPPED_PATH, "/proc/%d/root%s", (int)pid, file);

    if (n > 0 && n < SEEP_MAPPED_PATH && is_file(path, inode))
        return true;
    n = snprintf(path, SEEP_MAPPED_PATH, "%s", file);
    return n > 0 && n < SEEP_MAPPED_PATH && is_file(path, inode);
}

/* Opening a device or a pipe may have an effect. */
static int open_file(const char *path, uint64_t inode)
{
    struct stat st;
    int fd = open(path, O_PATH | O_CLOEXEC), file = -1;
    char at[64];

    if (fd < 0)
        return -1;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && (uint64_t)st.st_ino == inode) {
        snprintf(at, sizeof at, "/proc/self/fd/%d", fd);
        file = open(at, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    }
    close(fd);
    return file;
}

static int open_as_seen(const char *path, uint64_t inode, pid_t pid)
{
    char there[SEEP_MAPPED_PATH];

    return seep_mapped_file(pid, path, inode, there) ? open_file(there, inode) : -1;
}

int seep_file_pages_init(struct seep_file_pages *pages, const struct seep_maps *maps, pid_t pid)
{
    *pages = (struct seep_file_pages){.maps = maps};
    pages->fds = malloc((maps->n_files + 1) * sizeof *pages->fds);
    if (!pages->fds)
        return -SEEP_ENOMEM;
    for (size_t i = 0; i < maps->n_files; i++)
        pages->fds[i] = -1;
    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        if (map->kind == SEEP_MAP_FILE && !map->shared && map->readable &&
            pages->fds[map->file - 1] < 0)
            pages->fds[map->file - 1] = open_as_seen(seep_maps_file(maps, map), map->inode, pid);
    }
    return 0;
}

void seep_file_pages_fini(struct seep_file_pages *pages)
{
    for (size_t i = 0; pages->fds && i < pages->maps->n_files; i++)
        if (pages->fds[i] >= 0)
            close(pages->fds[i]);
    free(pages->fds);
    *pages = (struct seep_file_pages){0};
}

bool seep_file_pages_has(const struct seep_file_pages *pages, const struct seep_map *map)
{
    return map->kind == SEEP_MAP_FILE && map->readable && !map->shared &&
           pages->fds[map->file - 1] >= 0;
}

size_t seep_file_pages_read(void *context, uint64_t address, void *to, size_t n)
{
    const struct seep_file_pages *pages = context;
    size_t done = 0;

    while (done < n) {
        const struct seep_map *map = seep_maps_at(pages->maps, address + done);
        if (!map || !seep_file_pages_has(pages, map))
            break;
        uint64_t left = map->end - (address + done);
        size_t piece = left < n - done ? (size_t)left : n - done;
        ssize_t got = pread(pages->fds[map->file - 1], (char *)to + done, piece,
                            (off_t)(map->offset + (address + done - map->start)));
        if (got <= 0)
            break;
        done += (size_t)got;
    }
    return done;
}
