#include "libprof/who/graph/process_maps.h"

#include "libprof/base/error.h"
#include "libprof/base/hash_index.h"
#include "libprof/format/map_name.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct parser {
    struct seep_maps *maps;
    size_t capacity, file_capacity;
    bool none_before; /* the mapping ahead of it is not accessible at all */
};

/* Index + 1 of a name; consecutive mappings of a file share it. Negative: no memory. */
static int64_t file_index(struct parser *p, const char *name, size_t n)
{
    struct seep_maps *maps = p->maps;

    for (size_t i = maps->n_files; i-- > 0;)
        if (strlen(maps->files[i]) == n && memcmp(maps->files[i], name, n) == 0)
            return (int64_t)i + 1;
    if (seep_grow(&maps->files, &p->file_capacity, maps->n_files + 1, sizeof *maps->files))
        return -SEEP_ENOMEM;
    maps->files[maps->n_files] = strndup(name, n);
    return maps->files[maps->n_files] ? (int64_t)++maps->n_files : -SEEP_ENOMEM;
}

static int add(struct parser *p, struct seep_map *map, const char *name, size_t n)
{
    struct seep_maps *maps = p->maps;
    const struct seep_map *before = maps->n ? &maps->list[maps->n - 1] : NULL;
    bool adjacent = before && before->end == map->start;

    map->guarded = adjacent && p->none_before;
    p->none_before = !map->readable && !map->writable && !map->executable;
    if (seep_map_name_is_memory(name, n, map->shared)) {
        map->inode = 0;
    } else if (n && *name == '/') {
        int64_t file = file_index(p, name, n);
        if (file < 0)
            return (int)file;
        map->kind = SEEP_MAP_FILE;
        map->file = (uint32_t)file;
    } else if (n == 7 && memcmp(name, "[stack]", 7) == 0) {
        map->kind = SEEP_MAP_STACK;
    } else if (n == 6 && memcmp(name, "[heap]", 6) == 0) {
        map->kind = SEEP_MAP_BREAK;
    } else if (!n && map->writable && adjacent && before->kind == SEEP_MAP_FILE &&
               before->writable && !before->shared) {
        map->kind = SEEP_MAP_BSS;
        map->file = before->file;
    }
    if (before && before->end > map->start)
        return 0;
    if (seep_grow(&maps->list, &p->capacity, maps->n + 1, sizeof *maps->list))
        return -SEEP_ENOMEM;
    maps->list[maps->n++] = *map;
    return 0;
}

int seep_maps_parse(struct seep_maps *maps, const char *text, size_t n)
{
    struct parser parser = {.maps = maps};
    const char *end = text + n;

    *maps = (struct seep_maps){0};
    while (text < end) {
        const char *eol = memchr(text, '\n', (size_t)(end - text));
        const char *stop = eol ? eol : end;
        char head[256] = "", rights[5] = "";
        struct seep_map map = {0};
        int name_at = 0;
        size_t n_line = (size_t)(stop - text), n_head = n_line;
        if (n_head >= sizeof head)
            n_head = sizeof head - 1;
        memcpy(head, text, n_head);
        if (sscanf(head, "%lx-%lx %4s %lx %*s %lu %n", &map.start, &map.end, rights, &map.offset,
                   &map.inode, &name_at) >= 5 &&
            map.start < map.end && name_at > 0) {
            map.readable = rights[0] == 'r';
            map.writable = rights[1] == 'w';
            map.executable = rights[2] == 'x';
            map.shared = rights[3] == 's';
            int rc = add(&parser, &map, text + name_at, n_line - (size_t)name_at);
            if (rc)
                return rc;
        }
        text = stop + 1;
    }
    return 0;
}

int seep_maps_read(struct seep_maps *maps, pid_t pid)
{
    char path[64], *text = NULL;
    size_t n = 0, capacity = 0, got = 1;

    snprintf(path, sizeof path, "/proc/%d/maps", (int)pid);
    FILE *file = fopen(path, "re");
    while (file && got) {
        if (n + 65536 > capacity) {
            char *more = realloc(text, capacity = capacity * 2 + 65536);
            if (!more)
                break;
            text = more;
        }
        got = fread(text + n, 1, 65536, file);
        n += got;
    }
    int rc = file && !got && n ? seep_maps_parse(maps, text, n) : -SEEP_EIO;
    if (file)
        fclose(file);
    free(text);
    return rc;
}

void seep_maps_fini(struct seep_maps *maps)
{
    for (size_t i = 0; i < maps->n_files; i++)
        free(maps->files[i]);
    free(maps->files);
    free(maps->list);
    *maps = (struct seep_maps){0};
}

const struct seep_map *seep_maps_at(const struct seep_maps *maps, uint64_t address)
{
    size_t low = 0, high = maps->n;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (maps->list[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low < maps->n && maps->list[low].start <= address ? &maps->list[low] : NULL;
}

const struct seep_map *seep_maps_first(const struct seep_maps *maps, const struct seep_map *map)
{
    while (map > maps->list && map[-1].file == map->file)
        map--;
    return map;
}

size_t seep_maps_join(const struct seep_maps *maps, size_t i, struct seep_map *map)
{
    size_t next = i + 1;

    *map = maps->list[i];
    while (next < maps->n && maps->list[next].start == map->end && !map->file && !map->shared &&
           maps->list[next].kind == map->kind && !maps->list[next].file &&
           maps->list[next].readable == map->readable &&
           maps->list[next].writable == map->writable && !maps->list[next].shared && !map->alone &&
           !maps->list[next].alone)
        map->end = maps->list[next++].end;
    return next;
}
