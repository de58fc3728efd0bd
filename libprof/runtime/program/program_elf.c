#include "libprof/runtime/program/program_elf.h"

#include <elf.h>
#include <limits.h>
#include <string.h>

#include "libprof/arch/arch.h"
#include "libprof/runtime/store/os.h"

enum {
    MAX_HEADERS = 64 * 1024 / sizeof(Elf64_Phdr), /* the kernel accepts no more */
    MAX_DYNAMIC = 1024,
    MAX_NEEDED = 256,
    MAX_UNDEFINED = 4096,
    MAX_CHAIN = 1024,
    SLOTS = 4,        /* the headers, the dynamic section, its texts and its hash are each at */
    SLOT_BYTES = 512, /* a place of their own, and each is asked for again */
};

struct reader {
    int fd;
    uint64_t headers_at;
    unsigned n_headers, next; /* slot to be filled */
    struct slot {
        uint64_t at;
        size_t n;
        char bytes[SLOT_BYTES];
    } slots[SLOTS];
};

/* Where the dynamic section says things are; addresses, 0: not stated. */
struct dynamic {
    uint64_t at, bytes; /* of itself, in the file */
    uint64_t strings, symbols, hash, soname;
    bool has_soname;
};

/* Reads up to `bytes`, at most a slot; returns how many: fewer at the end of the file. */
static size_t read_some(struct reader *r, uint64_t at, void *to, size_t bytes)
{
    struct slot *slot = NULL;

    for (unsigned i = 0; i < SLOTS && !slot; i++)
        if (at - r->slots[i].at < r->slots[i].n && at - r->slots[i].at + bytes <= r->slots[i].n)
            slot = &r->slots[i];
    if (!slot) {
        slot = &r->slots[r->next++ % SLOTS];
        const long n = at <= INT64_MAX ? seep_os_call6(SYS_pread64, r->fd, (long)slot->bytes,
                                                       SLOT_BYTES, (long)at, 0, 0)
                                       : -1;
        slot->at = at;
        slot->n = n > 0 ? (size_t)n : 0;
    }
    const size_t known = slot->n - (size_t)(at - slot->at);
    const size_t n = bytes < known ? bytes : known;
    memcpy(to, slot->bytes + (at - slot->at), n);
    return n;
}

static bool read_at(struct reader *r, uint64_t at, void *to, size_t bytes)
{
    return read_some(r, at, to, bytes) == bytes;
}

static bool read_header(struct reader *r, unsigned i, Elf64_Phdr *header)
{
    return read_at(r, r->headers_at + (uint64_t)i * sizeof *header, header, sizeof *header);
}

/* The file offset of what is loaded at an address; UINT64_MAX: none. */
static uint64_t place_of(struct reader *r, uint64_t address)
{
    for (unsigned i = 0; i < r->n_headers; i++) {
        Elf64_Phdr p;
        if (!read_header(r, i, &p))
            break;
        if (p.p_type == PT_LOAD && address - p.p_vaddr < p.p_filesz)
            return p.p_offset + (address - p.p_vaddr);
    }
    return UINT64_MAX;
}

/* Text up to its NUL; truncated if longer. */
static bool read_text(struct reader *r, uint64_t at, char text[SEEP_ELF_NAME_BYTES])
{
    const size_t n = read_some(r, at, text, SEEP_ELF_NAME_BYTES - 1);

    text[n] = '\0';
    return n > 0;
}

/* The base name of the path in PT_INTERP, which must end with a NUL for the kernel. */
static bool read_loader(struct reader *r, uint64_t at, uint64_t bytes,
                        char loader[SEEP_ELF_NAME_BYTES])
{
    if (bytes < 2 || bytes > PATH_MAX)
        return false;
    uint64_t n = bytes < SEEP_ELF_NAME_BYTES ? bytes : SEEP_ELF_NAME_BYTES;
    if (!read_at(r, at + bytes - n, loader, n) || loader[n - 1] != '\0')
        return false;
    size_t start = n - 1;
    while (start > 0 && loader[start - 1] != '/' && loader[start - 1] != '\0')
        start--;
    memmove(loader, loader + start, n - start);
    return true;
}

/* False: past the last one, or not readable. */
static bool read_entry(struct reader *r, const struct dynamic *d, uint64_t i, Elf64_Dyn *entry)
{
    return i < d->bytes / sizeof *entry && i < MAX_DYNAMIC &&
           read_at(r, d->at + i * sizeof *entry, entry, sizeof *entry) && entry->d_tag != DT_NULL;
}

static void read_dynamic(struct reader *r, struct dynamic *d)
{
    Elf64_Dyn e;

    for (uint64_t i = 0; read_entry(r, d, i, &e); i++) {
        if (e.d_tag == DT_STRTAB)
            d->strings = e.d_un.d_ptr;
        else if (e.d_tag == DT_SYMTAB)
            d->symbols = e.d_un.d_ptr;
        else if (e.d_tag == DT_GNU_HASH)
            d->hash = e.d_un.d_ptr;
        else if (e.d_tag == DT_SONAME) {
            d->soname = e.d_un.d_val;
            d->has_soname = true;
        }
    }
}

bool seep_program_elf_is_sanitizer(const char *name, size_t n)
{
    static const char *const runtimes[] = {
        "libasan.",         "libtsan.",         "liblsan.",         "libhwasan.",
        "libmsan.",         "libclang_rt.asan", "libclang_rt.tsan", "libclang_rt.lsan",
        "libclang_rt.msan", "libclang_rt.hwas", "libclang_rt.dfsa"};
    const char *slash = n ? memrchr(name, '/', n) : NULL;

    if (slash) {
        n -= (size_t)(slash + 1 - name);
        name = slash + 1;
    }
    for (size_t i = 0; i < sizeof runtimes / sizeof *runtimes; i++) {
        size_t length = strlen(runtimes[i]);
        if (n >= length && memcmp(name, runtimes[i], length) == 0)
            return true;
    }
    return false;
}

static void look_for_sanitizer(struct reader *r, const struct dynamic *d, uint64_t strings,
                               char name[SEEP_ELF_NAME_BYTES])
{
    Elf64_Dyn e;
    unsigned n_needed = 0;

    for (uint64_t i = 0; n_needed < MAX_NEEDED && read_entry(r, d, i, &e); i++) {
        if (e.d_tag != DT_NEEDED)
            continue;
        n_needed++;
        if (read_text(r, strings + e.d_un.d_val, name) &&
            seep_program_elf_is_sanitizer(name, strlen(name)))
            return;
    }
    name[0] = '\0';
}

struct hash_head {
    uint32_t n_buckets, first_symbol, n_bloom, shift;
};

static uint32_t hash_of(const char *name)
{
    uint32_t h = 5381;

    for (; *name; name++)
        h = h * 33 + (unsigned char)*name;
    return h;
}

/* Whether the dynamic symbol table defines `name`: what DT_GNU_HASH is for. */
static bool defines(struct reader *r, const struct hash_head *head, uint64_t hash_at,
                    uint64_t symbols, uint64_t strings, const char *name)
{
    uint32_t h = hash_of(name), index, link;
    uint64_t bloom, blooms = hash_at + sizeof *head, bits;
    Elf64_Sym symbol;
    char found[SEEP_ELF_NAME_BYTES];

    if (!head->n_buckets || !head->n_bloom || (head->n_bloom & (head->n_bloom - 1)))
        return false;
    if (!read_at(r, blooms + (uint64_t)(h / 64 & (head->n_bloom - 1)) * 8, &bloom, 8))
        return false;
    bits = UINT64_C(1) << (h & 63) | UINT64_C(1) << (h >> (head->shift & 31) & 63);
    uint64_t buckets = blooms + (uint64_t)head->n_bloom * 8;
    if ((bloom & bits) != bits ||
        !read_at(r, buckets + (uint64_t)(h % head->n_buckets) * 4, &index, 4) ||
        index < head->first_symbol)
        return false;
    uint64_t links = buckets + (uint64_t)head->n_buckets * 4;
    for (unsigned i = 0; i < MAX_CHAIN; i++, index++) {
        if (!read_at(r, links + (uint64_t)(index - head->first_symbol) * 4, &link, 4))
            return false;
        if ((link | 1) == (h | 1) &&
            read_at(r, symbols + (uint64_t)index * sizeof symbol, &symbol, sizeof symbol) &&
            symbol.st_shndx != SHN_UNDEF && read_text(r, strings + symbol.st_name, found) &&
            strcmp(found, name) == 0)
            return true;
        if (link & 1)
            break;
    }
    return false;
}

/* All sanitizer runtimes that replace malloc import these symbols when linked in; imported symbols
 * precede defined ones. */
static bool asks_for_symbolizer(struct reader *r, const struct hash_head *head, uint64_t symbols,
                                uint64_t strings)
{
    static const char start[] = "__sanitizer_symbolize";
    Elf64_Sym symbol;
    char name[SEEP_ELF_NAME_BYTES];

    for (uint32_t i = 0; i < head->first_symbol && i < MAX_UNDEFINED; i++) {
        if (!read_at(r, symbols + (uint64_t)i * sizeof symbol, &symbol, sizeof symbol))
            return false;
        if (symbol.st_name && read_text(r, strings + symbol.st_name, name) &&
            strncmp(name, start, sizeof start - 1) == 0)
            return true;
    }
    return false;
}

static void weigh_dynamic(struct reader *r, uint64_t at, uint64_t bytes,
                          struct seep_program_elf *elf)
{
    struct dynamic d = {.at = at, .bytes = bytes};
    struct hash_head head;

    read_dynamic(r, &d);
    uint64_t strings = d.strings ? place_of(r, d.strings) : UINT64_MAX;
    if (strings > INT64_MAX)
        return;
    if (d.has_soname)
        (void)read_text(r, strings + d.soname, elf->soname);
    look_for_sanitizer(r, &d, strings, elf->sanitizer);
    uint64_t hash = d.hash ? place_of(r, d.hash) : UINT64_MAX;
    uint64_t symbols = d.symbols ? place_of(r, d.symbols) : UINT64_MAX;
    if (hash > INT64_MAX || symbols > INT64_MAX || !read_at(r, hash, &head, sizeof head))
        return;
    elf->own_malloc = defines(r, &head, hash, symbols, strings, "malloc");
    elf->own_runtime = elf->own_malloc && asks_for_symbolizer(r, &head, symbols, strings);
}

bool seep_program_elf_read(int fd, struct seep_program_elf *elf)
{
    struct reader r = {.fd = fd};
    Elf64_Ehdr h;
    uint64_t dynamic_at = 0, dynamic_bytes = 0;

    memset(elf, 0, sizeof *elf);
    memset(&h, 0, sizeof h);
    const size_t n = read_some(&r, 0, &h, sizeof h);
    if (n < SELFMAG || memcmp(h.e_ident, ELFMAG, SELFMAG) != 0)
        return false;
    elf->is_foreign = n != sizeof h || h.e_ident[EI_CLASS] != ELFCLASS64 ||
                      h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != SEEP_ARCH_MACHINE;
    if (elf->is_foreign)
        return true;
    elf->is_damaged = h.e_phentsize != sizeof(Elf64_Phdr) || !h.e_phnum || h.e_phnum > MAX_HEADERS;
    r.headers_at = h.e_phoff;
    r.n_headers = h.e_phnum;
    for (unsigned i = 0; i < r.n_headers && !elf->is_damaged; i++) {
        Elf64_Phdr p;
        if (!read_header(&r, i, &p)) {
            elf->is_damaged = true;
        } else if (p.p_type == PT_INTERP && !elf->has_loader) {
            elf->has_loader = true;
            elf->is_damaged = !read_loader(&r, p.p_offset, p.p_filesz, elf->loader);
        } else if (p.p_type == PT_DYNAMIC) {
            dynamic_at = p.p_offset;
            dynamic_bytes = p.p_filesz;
        }
    }
    if (!elf->is_damaged && dynamic_bytes)
        weigh_dynamic(&r, dynamic_at, dynamic_bytes, elf);
    return true;
}
