#include "libprof/code/data_symbols.h"

#include "libprof/base/text.h"
#include "libprof/code/elf_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The address for which the file's first byte was linked; the difference from where it was mapped
 * is how far everything moved. */
static bool first_address(Elf *elf, uint64_t *first)
{
    size_t n;
    bool found = false;

    if (elf_getphdrnum(elf, &n))
        return false;
    for (size_t i = 0; i < n && i < INT32_MAX; i++) {
        GElf_Phdr header;
        if (!gelf_getphdr(elf, (int)i, &header) || header.p_type != PT_LOAD)
            continue;
        const uint64_t at = header.p_vaddr - header.p_offset; /* whole pages, or it is not loaded */
        if (!found || at < *first)
            *first = at;
        found = true;
    }
    return found;
}

/* The symbols of the table of that type, *n of them; NULL if there is none. */
static Elf_Data *symbols_of(Elf *elf, uint32_t type, GElf_Shdr *header, int *n)
{
    Elf_Scn *scn = seep_elf_section(elf, type, NULL);
    Elf_Data *data = scn ? elf_getdata(scn, NULL) : NULL;

    if (!data || !gelf_getshdr(scn, header) || !header->sh_entsize)
        return NULL;
    const size_t all = data->d_size / header->sh_entsize;
    *n = all < INT32_MAX ? (int)all : INT32_MAX;
    return data;
}

static const char *find_in(Elf *elf, uint32_t type, uint64_t address)
{
    GElf_Shdr header;
    int n = 0;
    Elf_Data *data = symbols_of(elf, type, &header, &n);

    for (int i = 0; data && i < n; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, i, &symbol) || GELF_ST_TYPE(symbol.st_info) != STT_OBJECT ||
            symbol.st_shndx == SHN_UNDEF || address < symbol.st_value ||
            address - symbol.st_value >= symbol.st_size)
            continue;
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name && name[0])
            return name;
    }
    return NULL;
}

static void put_name(const char *name, char *to, size_t capacity)
{
    char *plain = seep_elf_demangle(name);

    snprintf(to, capacity, "%s", plain ? plain : name);
    (void)seep_text_clean_in_place(to, strlen(to));
    free(plain);
}

bool seep_data_symbol(const char *path, uint64_t base, uint64_t address, char *to, size_t capacity)
{
    uint64_t first = 0;
    int fd;

    to[0] = '\0';
    elf_version(EV_CURRENT);
    Elf *elf = path[0] == '/' ? seep_elf_file_open(path, &fd) : NULL;
    if (!elf)
        return false;
    if (first_address(elf, &first)) {
        uint64_t wanted = address - base + first;
        const char *name = find_in(elf, SHT_SYMTAB, wanted);
        if (!name)
            name = find_in(elf, SHT_DYNSYM, wanted);
        if (name)
            put_name(name, to, capacity);
    }
    elf_end(elf);
    close(fd);
    return to[0] != '\0';
}

static bool find_named(Elf *elf, uint32_t type, const char *wanted, uint64_t *value)
{
    GElf_Shdr header;
    int n = 0;
    Elf_Data *data = symbols_of(elf, type, &header, &n);

    for (int i = 0; data && i < n; i++) {
        GElf_Sym symbol;
        if (!gelf_getsym(data, i, &symbol) || symbol.st_shndx == SHN_UNDEF)
            continue;
        const char *name = elf_strptr(elf, header.sh_link, symbol.st_name);
        if (name && strcmp(name, wanted) == 0) {
            *value = symbol.st_value;
            return true;
        }
    }
    return false;
}

bool seep_data_address(const char *path, uint64_t base, const char *name, uint64_t *address)
{
    uint64_t first = 0, value = 0;
    int fd;

    elf_version(EV_CURRENT);
    Elf *elf = path[0] == '/' ? seep_elf_file_open(path, &fd) : NULL;
    if (!elf)
        return false;
    bool found = first_address(elf, &first) && (find_named(elf, SHT_DYNSYM, name, &value) ||
                                                find_named(elf, SHT_SYMTAB, name, &value));
    if (found)
        *address = value - first + base;
    elf_end(elf);
    close(fd);
    return found;
}
