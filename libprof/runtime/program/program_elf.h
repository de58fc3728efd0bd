/* An ELF program as its headers describe it, read through a descriptor. Runtime part: raw system
 * calls, some 900 bytes of stack, no static state; a child of vfork may call it. Any bytes are
 * safe: every count is bounded. */
#ifndef SEEP_LIBPROF_RUNTIME_PROGRAM_PROGRAM_ELF_H
#define SEEP_LIBPROF_RUNTIME_PROGRAM_PROGRAM_ELF_H

#include <stdbool.h>
#include <stddef.h>

enum { SEEP_ELF_NAME_BYTES = 64 };

struct seep_program_elf {
    bool is_foreign; /* of another processor, or not of 64 bits: nothing else is filled in */
    bool is_damaged;
    bool has_loader;                  /* PT_INTERP */
    bool own_malloc;                  /* exports malloc: it precedes that of every library */
    bool own_runtime;                 /* exports malloc, and has a sanitizer's runtime linked in */
    char loader[SEEP_ELF_NAME_BYTES]; /* base name of PT_INTERP, or its end if longer */
    char soname[SEEP_ELF_NAME_BYTES]; /* "": none */
    char sanitizer[SEEP_ELF_NAME_BYTES]; /* the sanitizer's runtime among DT_NEEDED; "": none */
};

/* Reads the file behind `fd` (open for reading). False: it does not begin like an ELF file. */
bool seep_program_elf_read(int fd, struct seep_program_elf *elf);

/* A library's name or path, `n` bytes: is it the runtime of a sanitizer that must be loaded first?
 * (That of UBSan alone may be anywhere.) */
bool seep_program_elf_is_sanitizer(const char *name, size_t n);

#endif
