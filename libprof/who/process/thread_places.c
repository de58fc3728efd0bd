#include "libprof/who/process/thread_places.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PAGE = 4096, DESCRIPTOR = 4096, ALIGNMENT = 64, MOST_THREADS = 4096 };

/* glibc's struct pthread has its own address in its first and its third word. */
static uint64_t descriptor_of(const struct seep_thread_source *source, pid_t thread)
{
    uint64_t list = 0, bytes = 0, words[3];

    if (syscall(SYS_get_robust_list, thread, &list, &bytes) || !list)
        return 0;
    for (uint64_t at = list & ~(uint64_t)(ALIGNMENT - 1), n = 0; n < DESCRIPTOR / ALIGNMENT;
         at -= ALIGNMENT, n++)
        if (source->read(source->context, at, words, sizeof words) && words[0] == at &&
            words[2] == at)
            return at;
    return 0;
}

uint64_t seep_thread_pointer_find(const struct seep_thread_source *source)
{
    return descriptor_of(source, source->pid);
}

/* It says where the stack is that it lies in: its start, and its size. */
static bool stack_of(const struct seep_thread_source *source, uint64_t descriptor,
                     uint64_t end_of_map, uint64_t *start, uint64_t *end)
{
    uint64_t words[DESCRIPTOR / 8];
    const size_t room = (size_t)(end_of_map - descriptor);
    const size_t bytes = room < sizeof words ? room & ~(size_t)7 : sizeof words;

    if (!source->read(source->context, descriptor, words, bytes))
        return false;
    for (size_t i = 0; i + 1 < bytes / 8; i++) {
        *start = words[i];
        *end = *start + words[i + 1];
        if (*start % PAGE == 0 && *end % PAGE == 0 && *start &&
            *start<descriptor && * end> descriptor && *end - descriptor <= 64 * PAGE)
            return true;
    }
    return false;
}

/* Of the map that they lie in. Its first page may be made inaccessible without a map of its own. */
static int split(struct seep_maps *maps, size_t i, uint64_t start, uint64_t end)
{
    const struct seep_map whole = maps->list[i];
    struct seep_map parts[3];
    size_t n = 0;

    if (start > whole.start) {
        parts[n] = whole;
        parts[n++].end = start;
    }
    parts[n] = whole;
    parts[n].start = start;
    parts[n].end = end;
    parts[n].guarded = parts[n].alone = true;
    n++;
    if (end < whole.end) {
        parts[n] = whole;
        parts[n].start = end;
        parts[n++].guarded = false;
    }
    struct seep_map *list = reallocarray(maps->list, maps->n + n - 1, sizeof *list);
    if (!list)
        return -SEEP_ENOMEM;
    memmove(list + i + n, list + i + 1, (maps->n - i - 1) * sizeof *list);
    memcpy(list + i, parts, n * sizeof *list);
    maps->list = list;
    maps->n += n - 1;
    return 0;
}

static int split_stack(const struct seep_thread_source *source, struct seep_maps *maps,
                       pid_t thread)
{
    const uint64_t descriptor = descriptor_of(source, thread);
    const struct seep_map *map = descriptor ? seep_maps_at(maps, descriptor) : NULL;
    uint64_t start, end;

    if (!map || map->kind != SEEP_MAP_OTHER || map->guarded || map->alone || map->file ||
        map->shared || !stack_of(source, descriptor, map->end, &start, &end))
        return 0;
    start = start < map->start ? map->start : start;
    end = end > map->end ? map->end : end;
    return split(maps, (size_t)(map - maps->list), start, end);
}

int seep_thread_stacks_split(const struct seep_thread_source *source, struct seep_maps *maps)
{
    char path[64];
    struct dirent *entry;
    int rc = 0;

    snprintf(path, sizeof path, "/proc/%d/task", (int)source->pid);
    DIR *tasks = opendir(path);
    for (int n = 0; tasks && !rc && n < MOST_THREADS && (entry = readdir(tasks)); n++)
        if (entry->d_name[0] != '.' && strtol(entry->d_name, NULL, 10) != source->pid)
            rc = split_stack(source, maps, (pid_t)strtol(entry->d_name, NULL, 10));
    if (tasks)
        closedir(tasks);
    return rc;
}
