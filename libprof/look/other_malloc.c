#include "libprof/look/other_malloc.h"

#include "libprof/code/data_symbols.h"
#include "libprof/code/elf_file.h"
#include "libprof/who/blocks/glibc_chunks.h"
#include "libprof/who/process/mapped_file.h"

#include <stdio.h>
#include <string.h>

/* Its first heap, at the break: chunks, one after the other. */
static bool has_glibc_heap(const struct seep_maps *maps, struct seep_window *window)
{
    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        if (map->kind == SEEP_MAP_BREAK)
            return seep_glibc_chunks(NULL, window, map->start, map->end) - map->start >=
                   SEEP_WINDOW_PAGE;
    }
    return false;
}

static bool begins_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static bool is_well_known(const char *file, char name[SEEP_MALLOC_NAME])
{
    static const char *const names[] = {"libjemalloc", "libtcmalloc", "libmimalloc"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (begins_with(file, names[i])) {
            snprintf(name, SEEP_MALLOC_NAME, "%s", names[i] + strlen("lib"));
            return true;
        }
    return false;
}

/* The loader's serves until libc's is there; seep's own passes on what it is asked. */
static bool is_of_glibc(const char *file)
{
    return seep_elf_file_is_glibc(file) || begins_with(file, "ld-") ||
           begins_with(file, "libseep.so");
}

static bool is_malloc(const struct seep_maps *maps, const struct seep_map *map, const char *file,
                      pid_t pid, char name[SEEP_MALLOC_NAME])
{
    char path[SEEP_MAPPED_PATH];
    uint64_t address;

    if (is_well_known(file, name))
        return true;
    if (is_of_glibc(file) || !seep_mapped_file(pid, seep_maps_file(maps, map), map->inode, path) ||
        !seep_data_address(path, map->start, "malloc", &address))
        return false;
    snprintf(name, SEEP_MALLOC_NAME, "%s", file);
    return true;
}

bool seep_other_malloc(const struct seep_maps *maps, struct seep_window *window, pid_t pid,
                       char name[SEEP_MALLOC_NAME])
{
    name[0] = '\0';
    if (has_glibc_heap(maps, window))
        return false;
    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        const char *slash = strrchr(seep_maps_file(maps, map), '/');
        if (slash && map->kind == SEEP_MAP_FILE && seep_maps_first(maps, map) == map &&
            is_malloc(maps, map, slash + 1, pid, name))
            return true;
    }
    return false;
}
