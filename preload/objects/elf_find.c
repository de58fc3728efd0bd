#include "preload/objects/elf_find.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "libprof/runtime/store/vdso.h"

enum { VERSION_HIDDEN = 0x8000 }; /* in .gnu.version: not the default version of that name */

static bool matches(const struct seep_elf_exports *e, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &e->symbols[index];

    return symbol->st_shndx != SHN_UNDEF && strcmp(e->names + symbol->st_name, name) == 0 &&
           !(e->versions && e->versions[index] & VERSION_HIDDEN);
}

static const ElfW(Sym) * gnu_find(const struct seep_elf_exports *e, const char *name)
{
    const uint32_t n_buckets = e->gnu_hash[0], first = e->gnu_hash[1], n_bloom = e->gnu_hash[2];
    const ElfW(Addr) *bloom = (const ElfW(Addr) *)(const void *)(e->gnu_hash + 4);
    const uint32_t *buckets = (const uint32_t *)(const void *)(bloom + n_bloom);
    const uint32_t *chain = buckets + n_buckets;
    uint32_t hash = 5381;

    for (const char *c = name; *c; c++)
        hash = hash * 33 + (uint8_t)*c;
    if (!n_buckets || !n_bloom)
        return NULL;
    const ElfW(Addr) word = bloom[hash / 64 % n_bloom];
    if (!(word >> (hash % 64) & word >> ((hash >> e->gnu_hash[3]) % 64) & 1))
        return NULL;
    uint32_t index = buckets[hash % n_buckets];
    if (index < first)
        return NULL;
    for (;; index++) {
        const uint32_t link = chain[index - first];
        if ((link | 1) == (hash | 1) && matches(e, index, name))
            return &e->symbols[index];
        if (link & 1)
            return NULL;
    }
}

static const ElfW(Sym) * sysv_find(const struct seep_elf_exports *e, const char *name)
{
    const uint32_t n_buckets = e->sysv_hash[0];
    const uint32_t *buckets = e->sysv_hash + 2, *chain = buckets + n_buckets;
    uint32_t hash = 0;

    for (const char *c = name; *c; c++) {
        hash = (hash << 4) + (uint8_t)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    for (uint32_t i = n_buckets ? buckets[hash % n_buckets] : 0; i; i = chain[i])
        if (matches(e, i, name))
            return &e->symbols[i];
    return NULL;
}

const ElfW(Sym) * seep_elf_symbol(const struct seep_elf_exports *e, const char *name)
{
    return e->gnu_hash ? gnu_find(e, name) : sysv_find(e, name);
}

uintptr_t seep_elf_address(const struct seep_elf_exports *e, const char *name)
{
    const ElfW(Sym) *symbol = seep_elf_symbol(e, name);

    if (!symbol)
        return 0;
    uintptr_t address = e->bias + symbol->st_value;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        address = ((uintptr_t(*)(void))address)();
    return address;
}

bool seep_elf_open(struct seep_elf_exports *e, uintptr_t bias, const ElfW(Dyn) * dynamic)
{
    *e = (struct seep_elf_exports){.bias = bias};
    if (!dynamic || seep_vdso_around(dynamic))
        return false;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        /* glibc relocates these in place, musl does not. */
        uintptr_t at = dynamic->d_un.d_ptr;
        at += at < bias ? bias : 0;
        if (dynamic->d_tag == DT_SYMTAB)
            e->symbols = (const ElfW(Sym) *)at;
        else if (dynamic->d_tag == DT_STRTAB)
            e->names = (const char *)at;
        else if (dynamic->d_tag == DT_GNU_HASH)
            e->gnu_hash = (const uint32_t *)at;
        else if (dynamic->d_tag == DT_HASH)
            e->sysv_hash = (const uint32_t *)at;
        else if (dynamic->d_tag == DT_VERSYM)
            e->versions = (const uint16_t *)at;
    }
    return e->symbols && e->names && (e->gnu_hash || e->sysv_hash);
}
