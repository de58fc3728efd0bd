#include "libprof/runtime/store/vdso.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>

#include "libprof/runtime/store/os.h"

enum {
    MAX_BYTES = 64 * 1024, /* Linux and gVisor have 8 KiB */
    NAME_BYTES = 32,
};

/* Copies what lies in the image. */
static bool take(const struct seep_vdso *v, uintptr_t at, void *to, size_t bytes)
{
    if (at < v->start || at >= v->end || bytes > v->end - at)
        return false;
    memcpy(to, (const void *)at, bytes);
    return true;
}

/* Sets end and bias by the program headers, which lie in the first page. */
static bool read_parts(struct seep_vdso *v, const ElfW(Ehdr) * head, uintptr_t *dynamic)
{
    ElfW(Phdr) part;
    uintptr_t linked = 0, bytes = 0;

    *dynamic = 0;
    for (unsigned i = 0; i < head->e_phnum; i++) {
        if (!take(v, v->start + head->e_phoff + i * sizeof(part), &part, sizeof(part)))
            return false;
        if (part.p_type == PT_DYNAMIC)
            *dynamic = part.p_vaddr;
        if (part.p_type != PT_LOAD)
            continue;
        if (!bytes)
            linked = part.p_vaddr - part.p_offset;
        const uintptr_t from = part.p_vaddr - linked;
        if (from > MAX_BYTES || part.p_memsz > MAX_BYTES - from)
            return false;
        if (from + part.p_memsz > bytes)
            bytes = from + part.p_memsz;
    }
    v->end = v->start + bytes;
    v->bias = v->start - linked;
    v->is_linux = linked == 0;
    return bytes && *dynamic;
}

/* Nobody relocates it in place: its pages are the kernel's. */
static bool read_dynamic(struct seep_vdso *v, uintptr_t at)
{
    ElfW(Dyn) entry;
    uintptr_t symbols = 0, names = 0;

    for (;; at += sizeof(entry)) {
        if (!take(v, at, &entry, sizeof(entry)))
            return false;
        if (entry.d_tag == DT_NULL)
            break;
        if (entry.d_tag == DT_SYMTAB)
            symbols = entry.d_un.d_ptr + v->bias;
        else if (entry.d_tag == DT_STRTAB)
            names = entry.d_un.d_ptr + v->bias;
    }
    if (symbols < v->start || symbols >= v->end || names < v->start || names >= v->end)
        return false;
    v->symbols = symbols;
    v->names = names;
    return true;
}

/* Looks at the first page only. */
static bool read_head(struct seep_vdso *v, uintptr_t at, uintptr_t *dynamic)
{
    ElfW(Ehdr) head;

    *v = (struct seep_vdso){.start = at, .end = at + seep_os_page_bytes()};
    return take(v, at, &head, sizeof(head)) && memcmp(head.e_ident, ELFMAG, SELFMAG) == 0 &&
           head.e_ident[EI_CLASS] == ELFCLASS64 && head.e_phentsize == sizeof(ElfW(Phdr)) &&
           read_parts(v, &head, dynamic);
}

static bool is_place(uintptr_t at)
{
    return at && seep_os_page_down(at) == at && at < UINTPTR_MAX - MAX_BYTES;
}

bool seep_vdso_read(struct seep_vdso *v, uintptr_t at)
{
    uintptr_t dynamic;

    *v = (struct seep_vdso){0};
    if (!is_place(at) || !seep_os_readable((const void *)at) || !read_head(v, at, &dynamic))
        return false;
    for (uintptr_t page = v->start; (page += seep_os_page_bytes()) < v->end;)
        if (!seep_os_readable((const void *)page))
            return false;
    return read_dynamic(v, dynamic + v->bias);
}

/* By the table alone, which has a dozen entries: no hash has to be believed. The table ends where
 * the names begin, or with the image. */
uintptr_t seep_vdso_function(const struct seep_vdso *v, const char *name)
{
    const uintptr_t end = v->names > v->symbols ? v->names : v->end;
    const size_t n = strlen(name) + 1;
    char found[NAME_BYTES];
    ElfW(Sym) symbol;

    for (uintptr_t at = v->symbols; v->symbols && n <= sizeof(found) && end - at >= sizeof(symbol);
         at += sizeof(symbol)) {
        if (!take(v, at, &symbol, sizeof(symbol)))
            break;
        const uintptr_t address = v->bias + symbol.st_value;
        if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_shndx != SHN_UNDEF &&
            take(v, v->names + symbol.st_name, found, n) && memcmp(found, name, n) == 0 &&
            address >= v->start && address < v->end)
            return address;
    }
    return 0;
}

uintptr_t seep_vdso_around(const void *address)
{
    const uintptr_t at = getauxval(AT_SYSINFO_EHDR), place = (uintptr_t)address;
    struct seep_vdso v;
    uintptr_t unused;

    if (!is_place(at))
        return 0;
    (void)read_head(&v, at, &unused);
    return place >= v.start && place < v.end ? at : 0;
}
