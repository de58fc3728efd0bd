#include "preload/objects/real.h"

#include <elf.h>
#include <string.h>

#include "preload/objects/elf_find.h"
#include "preload/objects/loader.h"

_Alignas(64) struct seep_real seep_real; /* the malloc family is in the first line */
const char *seep_real_allocator = "";

static const char *const names[] = {
#define SEEP_HOOK(name, type, parameters) #name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
};

static void take_from(const struct link_map *map)
{
    struct seep_elf_exports e;
    void **real = (void **)&seep_real;
    if (!seep_elf_open(&e, map->l_addr, map->l_ld))
        return;
    for (unsigned i = 0; i < SEEP_N_HOOKS; i++) {
        uintptr_t found = real[i] ? 0 : seep_elf_address(&e, names[i]);
        if (found)
            __atomic_store_n(&real[i], (void *)found, __ATOMIC_RELEASE);
        if (found && i == SEEP_HOOK_malloc)
            seep_real_allocator = map->l_name;
    }
}

/* The loader's list begins with the objects with which a program starts, in search order. None of
 * them can be unloaded, and at the first call there are no others. */
void seep_real_resolve(void)
{
    const struct link_map *self = seep_loader_self();
    for (const struct link_map *map = self ? self->l_next : _r_debug.r_map; map; map = map->l_next)
        if (map->l_ld)
            take_from(map);
    /* Missing only if libc has dropped it. */
    if (!seep_real.cfree)
        seep_real.cfree = seep_real.free;
}
