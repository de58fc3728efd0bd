#include "libprof/look/python_runtime.h"

#include "libprof/code/data_symbols.h"
#include "libprof/format/python_layout.h"
#include "libprof/who/process/mapped_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "python3.10", "libpython3.10.so.1.0" */
static uint32_t version_of_name(const char *name)
{
    const char *major = strstr(name, "python3.");

    return major ? UINT32_C(3) << 24 | (uint32_t)(strtoul(major + 8, NULL, 10) & 0xff) << 16 : 0;
}

static bool has_no_gil(uint64_t runtime, struct seep_remote *remote)
{
    struct seep_python_offsets_head head;

    return seep_remote_read(remote, runtime, &head, sizeof head) && seep_python_has_no_gil(&head);
}

static bool has_mimalloc(const struct seep_python_runtime *runtime, struct seep_remote *remote)
{
    const struct seep_python_layout *layout = seep_python_layout_find(runtime->version);
    uint32_t allocator;

    return layout && layout->runtime_allocator &&
           seep_remote_read(remote, runtime->address + layout->runtime_allocator, &allocator,
                            sizeof allocator) &&
           seep_python_is_mimalloc(allocator);
}

static uint64_t word_at(struct seep_remote *remote, uint64_t address)
{
    uint64_t word = 0;

    return seep_remote_read(remote, address, &word, sizeof word) ? word : 0;
}

static void read_phase(struct seep_python_runtime *runtime, struct seep_remote *remote)
{
    const struct seep_python_layout *l = seep_python_layout_find(runtime->version);

    if (!l || runtime->no_gil)
        return;
    runtime->starts = !(uint32_t)word_at(remote, runtime->address + l->runtime_initialized);
    runtime->ends = word_at(remote, runtime->address + l->runtime_finalizing);
}

static bool find_in(struct seep_python_runtime *runtime, const char *path, const char *name,
                    uint64_t base, struct seep_remote *remote)
{
    uint64_t at;

    if (!seep_data_address(path, base, "_PyRuntime", &runtime->address))
        return false;
    runtime->version = 0;
    if (!seep_data_address(path, base, "Py_Version", &at) ||
        !seep_remote_read(remote, at, &runtime->version, sizeof runtime->version))
        runtime->version = version_of_name(name);
    runtime->no_gil = has_no_gil(runtime->address, remote);
    runtime->mimalloc = has_mimalloc(runtime, remote);
    read_phase(runtime, remote);
    return runtime->version != 0;
}

bool seep_python_runtime_find(struct seep_python_runtime *runtime, const struct seep_maps *maps,
                              struct seep_remote *remote)
{
    char path[SEEP_MAPPED_PATH];

    for (size_t i = 0; i < maps->n; i++) {
        const struct seep_map *map = &maps->list[i];
        const char *file = seep_maps_file(maps, map), *slash = strrchr(file, '/');
        if (!slash || map->kind != SEEP_MAP_FILE || !map->inode ||
            seep_maps_first(maps, map) != map || !strstr(slash, "python"))
            continue;
        if (seep_mapped_file(remote->files, file, map->inode, path) &&
            find_in(runtime, path, slash, map->start, remote))
            return true;
    }
    return false;
}
