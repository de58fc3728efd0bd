/* Finds CPython among the loaded objects by the symbols it exports. */
#include "preload/pyframe_elf.h"

#include <elf.h>
#include <link.h>
#include <stddef.h>
#include <string.h>

/* The dynamic symbols of one object, where the loader has mapped them. */
struct exports {
    uintptr_t bias;
    const ElfW(Sym) * symbols;
    const char *names;
    const uint32_t *gnu_hash;
    const uint32_t *sysv_hash;
};

static const ElfW(Sym) * gnu_find(const struct exports *e, const char *name)
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
        if ((link | 1) == (hash | 1) && !strcmp(e->names + e->symbols[index].st_name, name))
            return &e->symbols[index];
        if (link & 1)
            return NULL;
    }
}

static const ElfW(Sym) * sysv_find(const struct exports *e, const char *name)
{
    const uint32_t n_buckets = e->sysv_hash[0];
    const uint32_t *buckets = e->sysv_hash + 2, *chain = buckets + n_buckets;
    uint32_t hash = 0;

    for (const char *c = name; *c; c++) {
        hash = (hash << 4) + (uint8_t)*c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    for (uint32_t i = n_buckets ? buckets[hash % n_buckets] : 0; i; i = chain[i])
        if (!strcmp(e->names + e->symbols[i].st_name, name))
            return &e->symbols[i];
    return NULL;
}

static const ElfW(Sym) * find_symbol(const struct exports *e, const char *name)
{
    const ElfW(Sym) *symbol = e->gnu_hash ? gnu_find(e, name) : sysv_find(e, name);

    return symbol && symbol->st_shndx != SHN_UNDEF ? symbol : NULL;
}

static uintptr_t find_address(const struct exports *e, const char *name)
{
    const ElfW(Sym) *symbol = find_symbol(e, name);

    return symbol ? e->bias + symbol->st_value : 0;
}

/* False where an object has no table that can be searched. */
static bool exports_open(struct exports *e, const struct dl_phdr_info *info)
{
    const ElfW(Dyn) *dynamic = NULL;

    *e = (struct exports){.bias = info->dlpi_addr};
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
            dynamic = (const ElfW(Dyn) *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr);
    if (!dynamic)
        return false;
    for (; dynamic->d_tag != DT_NULL; dynamic++) {
        /* glibc relocates these in place, musl and the vdso do not. */
        uintptr_t at = dynamic->d_un.d_ptr;
        at += at < e->bias ? e->bias : 0;
        if (dynamic->d_tag == DT_SYMTAB)
            e->symbols = (const ElfW(Sym) *)at;
        else if (dynamic->d_tag == DT_STRTAB)
            e->names = (const char *)at;
        else if (dynamic->d_tag == DT_GNU_HASH)
            e->gnu_hash = (const uint32_t *)at;
        else if (dynamic->d_tag == DT_HASH)
            e->sysv_hash = (const uint32_t *)at;
    }
    return e->symbols && e->names && (e->gnu_hash || e->sysv_hash);
}

static void find_segments(struct seep_pyimage *image, const struct dl_phdr_info *info)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
        const uintptr_t start = info->dlpi_addr + segment->p_vaddr;
        if (segment->p_type == PT_GNU_EH_FRAME)
            image->eh_frame_hdr = start;
        else if (segment->p_type == PT_LOAD && segment->p_flags & PF_X &&
                 image->eval.start - start < segment->p_memsz)
            image->text = (struct seep_pyrange){start, start + segment->p_memsz};
    }
}

uintptr_t seep_elf_find(const struct dl_phdr_info *info, const char *name)
{
    struct exports e;

    return exports_open(&e, info) ? find_address(&e, name) : 0;
}

struct search {
    struct seep_pyimage *image;
    unsigned n_seen;
    bool found;
};

static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    struct exports e;
    const bool is_program = search->n_seen++ == 0;

    (void)size;
    if (!exports_open(&e, info))
        return 0;
    const ElfW(Sym) *eval = find_symbol(&e, "_PyEval_EvalFrameDefault");
    if (!eval)
        return 0;
    const uintptr_t start = e.bias + eval->st_value;
    struct seep_pyimage *image = search->image;
    *image = (struct seep_pyimage){
        .bias = e.bias,
        .is_program = is_program,
        .path = is_program ? "" : info->dlpi_name,
        .eval = {start, start + eval->st_size},
        .runtime = find_address(&e, "_PyRuntime"),
        .thread_state = find_address(&e, "PyGILState_GetThisThreadState"),
        .version = find_address(&e, "Py_GetVersion"),
        .version_word = find_address(&e, "Py_Version"),
        .code_type = find_address(&e, "PyCode_Type"),
        .cell_type = find_address(&e, "PyCell_Type"),
    };
    find_segments(image, info);
    search->found = image->code_type && (image->version || image->version_word);
    return search->found;
}

bool seep_pyimage_find(struct seep_pyimage *image)
{
    struct search search = {.image = image};

    (void)dl_iterate_phdr(visit, &search);
    return search.found;
}

static int visit_bias(struct dl_phdr_info *info, size_t size, void *data)
{
    (void)size;
    return info->dlpi_addr == *(const uintptr_t *)data;
}

bool seep_pyimage_loaded(uintptr_t bias)
{
    return dl_iterate_phdr(visit_bias, &bias) != 0;
}
