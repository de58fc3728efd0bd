/* Hand-made ELF programs, headers only: for the code that tells programs apart. */
#ifndef SEEP_TESTS_PROGRAM_BUILDER_H
#define SEEP_TESTS_PROGRAM_BUILDER_H

#include <elf.h>
#include <stddef.h>
#include <sys/types.h>

#define PROGRAM_GLIBC "/lib64/ld-linux-x86-64.so.2"

enum { PROGRAM_LIST = 6 };

struct program_parts {
    const char *loader; /* PT_INTERP; NULL: none */
    const char *soname;
    const char *needed[PROGRAM_LIST];  /* DT_NEEDED */
    const char *asked[PROGRAM_LIST];   /* dynamic symbols that it does not define … */
    const char *defined[PROGRAM_LIST]; /* … and that it does */
    unsigned char class;               /* 0: ELFCLASS64 */
    Elf64_Half machine;                /* 0: that of this build */
};

struct program_image {
    Elf64_Ehdr h;
    Elf64_Phdr p[3]; /* the loader, all of it, the dynamic section */
    Elf64_Dyn dynamic[PROGRAM_LIST + 5];
    struct {
        Elf64_Word n_buckets, first_symbol, n_bloom, shift;
        Elf64_Xword bloom;
        Elf64_Word bucket, chain[PROGRAM_LIST];
    } hash;
    Elf64_Sym symbols[1 + 2 * PROGRAM_LIST];
    char strings[512];
};

/* Lays it out in *image, whose address 0 is offset 0 of the file. */
void program_build(const struct program_parts *parts, struct program_image *image);

/* Writes bytes to a file of this mode; for a program all of its image. Aborts where it cannot. */
void program_write_bytes(const char *path, const void *bytes, size_t n, mode_t mode);
void program_write(const char *path, const struct program_parts *parts, mode_t mode);

#endif
