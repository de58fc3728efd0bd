#include "preload/life/program_facts.h"

#include <stdbool.h>
#include <string.h>
#include <sys/resource.h>

#include "libprof/format/device_format.h"
#include "libprof/runtime/program/memory_cgroups.h"
#include "libprof/runtime/store/address_space.h"
#include "libprof/runtime/store/os.h"
#include "preload/life/run_settings.h"
#include "preload/objects/elf_find.h"
#include "preload/objects/loader.h"

bool seep_program_is_bystander;

bool seep_program_exports(const char *name)
{
    struct seep_elf_exports e;
    const struct link_map *program = seep_loader_first();
    return program && seep_elf_open(&e, program->l_addr, program->l_ld) &&
           seep_elf_symbol(&e, name);
}

bool seep_program_is_python(void)
{
    for (const struct link_map *map = seep_loader_first(); map; map = map->l_next)
        if (map->l_name && strstr(map->l_name, "libpython"))
            return true;
    return seep_program_exports("_PyEval_EvalFrameDefault");
}

bool seep_program_is_starter(const char *name)
{
    static const char *const names[] = {"bash", "sh",      "dash", "zsh",   "ksh",   "busybox",
                                        "env",  "timeout", "nice", "xargs", "nohup", "setsid",
                                        "make", "setpriv", "time", "stdbuf"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

/* ---- its malloc ------------------------------------------------------------------------------ */

static bool exports_malloc(const struct link_map *map)
{
    struct seep_elf_exports e;
    return seep_elf_open(&e, map->l_addr, map->l_ld) && seep_elf_symbol(&e, "malloc");
}

/* Objects come in the order of symbol lookup, the program first. */
void seep_allocators_first(char *path, size_t capacity)
{
    const struct link_map *program = seep_loader_first(), *self = seep_loader_self();
    const struct link_map *map = program;
    path[0] = '\0';
    while (map && map != self && !exports_malloc(map))
        map = map->l_next;
    if (!map || map == self || !self)
        return;
    if (map != program && map->l_name && strlen(map->l_name) < capacity) {
        strcpy(path, map->l_name);
    } else if (map == program) {
        long n = seep_os_call6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)path,
                               (long)capacity - 1, 0, 0);
        path[n > 0 ? n : 0] = '\0';
    }
}

/* ---- its limits ------------------------------------------------------------------------------ */

static void add_group(const struct seep_memory_cgroup *group, void *header_given)
{
    struct seep_header *header = header_given;
    const uint64_t bytes = seep_memory_cgroup_limit(group);
    if (!bytes || (header->limit_cgroup_bytes && bytes >= header->limit_cgroup_bytes))
        return;
    header->limit_cgroup_bytes = bytes;
    header->limit_cgroup_version = (uint32_t)group->version;
}

void seep_process_limits_read(struct seep_header *header)
{
    header->limit_address_bytes = seep_address_space_limit(RLIMIT_AS);
    header->limit_data_bytes = seep_address_space_limit(RLIMIT_DATA);
    (void)seep_memory_cgroups_visit("/proc", 0, add_group, header);
    header->limit_ram_bytes =
        seep_memory_number_after(seep_memory_proc_text("/proc", "meminfo"), "MemTotal:") * 1024;
}

/* ---- PyTorch's settings ---------------------------------------------------------------------- */

/* A key alone matches every value of it. */
static const struct {
    const char *key, *value;
    uint32_t bit;
} known[] = {
    {"expandable_segments", "True", SEEP_ALLOCATOR_EXPANDABLE},
    {"garbage_collection_threshold", NULL, SEEP_ALLOCATOR_COLLECTS},
    {"max_split_size_mb", NULL, SEEP_ALLOCATOR_MAX_SPLIT},
    {"backend", "cudaMallocAsync", SEEP_ALLOCATOR_ASYNC},
};

static bool is_word(const char *text, size_t n, const char *word)
{
    while (n && *text == ' ') {
        text++;
        n--;
    }
    while (n && text[n - 1] == ' ')
        n--;
    return n == strlen(word) && memcmp(text, word, n) == 0;
}

static uint32_t setting(const char *text, size_t n)
{
    const char *colon = memchr(text, ':', n);
    for (size_t i = 0; colon && i < sizeof(known) / sizeof(known[0]); i++) {
        const size_t rest = n - (size_t)(colon - text) - 1;
        if (is_word(text, (size_t)(colon - text), known[i].key) &&
            (!known[i].value || is_word(colon + 1, rest, known[i].value)))
            return known[i].bit;
    }
    return 0;
}

uint32_t seep_torch_settings_in(const char *list)
{
    uint32_t bits = 0;
    while (list && *list) {
        const size_t n = strcspn(list, ",");
        bits |= setting(list, n);
        list += n + (list[n] == ',');
    }
    return bits;
}

uint32_t seep_torch_settings(void)
{
    const char *uncached = seep_run_settings_variable("PYTORCH_NO_CUDA_MEMORY_CACHING");
    const bool no_cache = uncached && *uncached && strcmp(uncached, "0") != 0;
    return seep_torch_settings_in(seep_run_settings_variable("PYTORCH_CUDA_ALLOC_CONF")) |
           seep_torch_settings_in(seep_run_settings_variable("PYTORCH_ALLOC_CONF")) |
           (no_cache ? SEEP_ALLOCATOR_NO_CACHE : 0u);
}
