/* Program files on disk: safe opening, their sections, and names as in the source. */
#ifndef SEEP_LIBPROF_CODE_ELF_FILE_H
#define SEEP_LIBPROF_CODE_ELF_FILE_H

#include <gelf.h>
#include <stdbool.h>

/* By its path. */
bool seep_elf_file_is_glibc(const char *path);

/* NULL, and *fd −1, if it is no ELF file. The caller ends it, then closes *fd. */
Elf *seep_elf_file_open(const char *path, int *fd);

/* The section with that name or, if `name` is NULL, the first of that type; NULL if there is
 * none. */
Elf_Scn *seep_elf_section(Elf *elf, uint32_t type, const char *name);

/* A C++ name as it is written in the source; NULL for others. Allocates it: free() it. */
char *seep_elf_demangle(const char *name);

#endif
