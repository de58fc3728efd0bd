#include "preload/life/start_parts.h"

#include <string.h>

#include "libprof/runtime/store/os.h"
#include "preload/objects/elf_find.h"
#include "preload/objects/loader.h"

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
