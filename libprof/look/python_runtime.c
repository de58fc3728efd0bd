#include "libprof/look/python_runtime.h"

#include "libprof/code/data_symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_BYTES = 4200 };

/* "python3.10", "libpython3.10.so.1.0" */
static uint32_t version_of_name(const char *name)
{
    const char *major = strstr(name, "python3.");

    return major ? UINT32_C(3) << 24 | (uint32_t)(strtoul(major + 8, NULL, 10) & 0xff) << 16 : 0;
}

static bool find_in(struct seep_python_runtime *runtime, const char *path, const char *name,
                    uint64_t base, struct seep_copy_memory *memory)
{
    uint64_t at;

    if (!seep_data_address(path, base, "_PyRuntime", &runtime->address))
        return false;
    runtime->version = 0;
    if (!seep_data_address(path, base, "Py_Version", &at) ||
        seep_copy_memory_read(memory, at, &runtime->version, sizeof runtime->version))
        runtime->version = version_of_name(name);
    return runtime->version != 0;
}

bool seep_python_runtime_find(struct seep_python_runtime *runtime, const struct seep_maps *maps,
                              struct seep_copy_memory *memory, pid_t pid)
{
    char path[PATH_BYTES];

    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        const char *file = seep_maps_file(maps, map), *slash = strrchr(file, '/');
        if (!slash || map->kind != SEEP_MAP_FILE || seep_maps_first(maps, map) != map ||
            !strstr(slash, "python"))
            continue;
        snprintf(path, sizeof path, "/proc/%d/root%s", (int)pid, file);
        if (find_in(runtime, path, slash, map->start, memory))
            return true;
    }
    return false;
}
