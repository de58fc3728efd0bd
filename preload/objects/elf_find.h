/* Symbols that a loaded object exports, found in its own mapped tables: no call into the loader, no
 * lock, no allocation. */
#ifndef SEEP_PRELOAD_OBJECTS_ELF_FIND_H
#define SEEP_PRELOAD_OBJECTS_ELF_FIND_H

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

struct seep_elf_exports {
    uintptr_t bias;
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
    const uint16_t *versions; /* NULL: none */
};

/* `dynamic` as in link_map.l_ld: of an object that the loader itself has searched. False if it has
 * no table that can be searched, and for the kernel's own (vdso.h), which nobody has checked. */
bool seep_elf_open(struct seep_elf_exports *e, uintptr_t bias, const ElfW(Dyn) * dynamic);

/* The default version of a symbol, or NULL. */
const ElfW(Sym) * seep_elf_symbol(const struct seep_elf_exports *e, const char *name);

/* A symbol's address; 0 if it is not exported. */
uintptr_t seep_elf_address(const struct seep_elf_exports *e, const char *name);

#endif
