#include "tests/program_builder.h"

#include "libprof/arch/arch.h"

#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static Elf64_Word add_string(struct program_image *image, size_t *used, const char *text)
{
    size_t at = *used, n = strlen(text) + 1;

    if (at + n > sizeof image->strings)
        abort();
    memcpy(image->strings + at, text, n);
    *used = at + n;
    return (Elf64_Word)at;
}

static Elf64_Word hash_of(const char *name)
{
    Elf64_Word h = 5381;

    while (*name)
        h = h * 33 + (unsigned char)*name++;
    return h;
}

static void add_symbols(const struct program_parts *parts, struct program_image *image,
                        size_t *used)
{
    unsigned n = 1, n_defined = 0;

    for (size_t i = 0; i < PROGRAM_LIST && parts->asked[i]; i++)
        image->symbols[n++].st_name = add_string(image, used, parts->asked[i]);
    image->hash.n_buckets = image->hash.n_bloom = 1;
    image->hash.first_symbol = n;
    image->hash.shift = 6;
    for (size_t i = 0; i < PROGRAM_LIST && parts->defined[i]; i++) {
        Elf64_Word h = hash_of(parts->defined[i]);
        image->symbols[n].st_name = add_string(image, used, parts->defined[i]);
        image->symbols[n++].st_shndx = 1;
        image->hash.bloom |= UINT64_C(1) << (h & 63) | UINT64_C(1) << (h >> 6 & 63);
        image->hash.bucket = image->hash.first_symbol;
        image->hash.chain[n_defined++] = h & ~1u;
    }
    if (n_defined)
        image->hash.chain[n_defined - 1] |= 1;
}

static void add_dynamic(const struct program_parts *parts, struct program_image *image,
                        size_t *used)
{
    Elf64_Dyn *d = image->dynamic;

    for (size_t i = 0; i < PROGRAM_LIST && parts->needed[i]; i++)
        *d++ = (Elf64_Dyn){DT_NEEDED, {add_string(image, used, parts->needed[i])}};
    if (parts->soname)
        *d++ = (Elf64_Dyn){DT_SONAME, {add_string(image, used, parts->soname)}};
    *d++ = (Elf64_Dyn){DT_GNU_HASH, {offsetof(struct program_image, hash)}};
    *d++ = (Elf64_Dyn){DT_STRTAB, {offsetof(struct program_image, strings)}};
    *d++ = (Elf64_Dyn){DT_SYMTAB, {offsetof(struct program_image, symbols)}};
}

void program_build(const struct program_parts *parts, struct program_image *image)
{
    size_t used = 1;

    memset(image, 0, sizeof *image);
    memcpy(image->h.e_ident, ELFMAG, SELFMAG);
    image->h.e_ident[EI_CLASS] = parts->class ? parts->class : ELFCLASS64;
    image->h.e_ident[EI_DATA] = ELFDATA2LSB;
    image->h.e_type = ET_DYN;
    image->h.e_machine = parts->machine ? parts->machine : SEEP_ARCH_MACHINE;
    image->h.e_phoff = offsetof(struct program_image, p);
    image->h.e_phentsize = sizeof image->p[0];
    image->h.e_phnum = 3;
    image->p[1] = (Elf64_Phdr){.p_type = PT_LOAD, .p_filesz = sizeof *image};
    image->p[2] = (Elf64_Phdr){.p_type = PT_DYNAMIC,
                               .p_offset = offsetof(struct program_image, dynamic),
                               .p_filesz = sizeof image->dynamic};
    if (parts->loader) {
        Elf64_Word at = add_string(image, &used, parts->loader);
        image->p[0] = (Elf64_Phdr){.p_type = PT_INTERP,
                                   .p_offset = offsetof(struct program_image, strings) + at,
                                   .p_filesz = strlen(parts->loader) + 1};
    }
    add_symbols(parts, image, &used);
    add_dynamic(parts, image, &used);
}

void program_write_bytes(const char *path, const void *bytes, size_t n, mode_t mode)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0 || write(fd, bytes, n) != (ssize_t)n || fchmod(fd, mode) != 0)
        abort();
    close(fd);
}

void program_write(const char *path, const struct program_parts *parts, mode_t mode)
{
    struct program_image image;

    program_build(parts, &image);
    program_write_bytes(path, &image, sizeof image, mode);
}
