#include "libprof/code/elf_file.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "libprof/base/text.h"
#include "libprof/code/rust_name.h"

/* From the C++ runtime library; C has no header for it. */
char *__cxa_demangle(const char *mangled, char *buffer, size_t *length, int *status);

bool seep_elf_file_is_glibc(const char *path)
{
    const char *base = seep_text_base(path);

    return strncmp(base, "libc.so", 7) == 0 || strncmp(base, "libc-2.", 7) == 0;
}

Elf *seep_elf_file_open(const char *path, int *fd)
{
    struct stat st;

    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return NULL;
    Elf *elf = NULL;
    if (!fstat(*fd, &st) && S_ISREG(st.st_mode))
        elf = elf_begin(*fd, ELF_C_READ_MMAP, NULL);
    if (elf && elf_kind(elf) != ELF_K_ELF) {
        elf_end(elf);
        elf = NULL;
    }
    if (!elf) {
        close(*fd);
        *fd = -1;
    }
    return elf;
}

Elf_Scn *seep_elf_section(Elf *elf, uint32_t type, const char *name)
{
    size_t names;
    Elf_Scn *scn = NULL;

    if (elf_getshdrstrndx(elf, &names))
        return NULL;
    while ((scn = elf_nextscn(elf, scn))) {
        GElf_Shdr header;
        if (!gelf_getshdr(scn, &header))
            continue;
        const char *its = elf_strptr(elf, names, header.sh_name);
        if ((name && its && strcmp(its, name) == 0) || (!name && header.sh_type == type))
            return scn;
    }
    return NULL;
}

char *seep_elf_demangle(const char *name)
{
    enum { LONGEST = 1024 };
    char rust[LONGEST];
    int status = -1;

    if (strncmp(name, "_R", 2) == 0)
        return seep_rust_name(name, rust, sizeof rust) ? strdup(rust) : NULL;
    char *plain = strncmp(name, "_Z", 2) == 0 ? __cxa_demangle(name, NULL, NULL, &status) : NULL;
    if (plain)
        plain[seep_rust_without_hash(plain)] = '\0';
    return plain;
}
