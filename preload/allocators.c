#include "preload/allocators.h"

#include <link.h>
#include <string.h>

#include "libprof/os.h"
#include "preload/pyframe_elf.h"

struct search {
    char *path;
    size_t capacity;
    unsigned n_seen;
};

static bool holds(const struct dl_phdr_info *info, const void *address)
{
    for (unsigned i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_LOAD &&
            (uintptr_t)address - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) <
                info->dlpi_phdr[i].p_memsz)
            return true;
    return false;
}

/* Objects come in the order in which symbols are looked for, the program first. */
static int visit(struct dl_phdr_info *info, size_t size, void *data)
{
    struct search *search = data;
    bool is_program = search->n_seen++ == 0;
    (void)size;
    if (holds(info, (const void *)seep_allocators_first))
        return 1;
    if (!seep_elf_find(info, "malloc"))
        return 0;
    const char *name = is_program || !info->dlpi_name ? "" : info->dlpi_name;
    if (!*name) {
        long n = seep_os_call6(SYS_readlinkat, AT_FDCWD, (long)"/proc/self/exe", (long)search->path,
                               (long)search->capacity - 1, 0, 0);
        search->path[n > 0 ? n : 0] = '\0';
    } else if (strlen(name) < search->capacity) {
        strcpy(search->path, name);
    }
    return 1;
}

void seep_allocators_first(char *path, size_t capacity)
{
    struct search search = {path, capacity, 0};
    path[0] = '\0';
    (void)dl_iterate_phdr(visit, &search);
}
