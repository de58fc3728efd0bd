#include "preload/life/first_start.h"

#include <elf.h>
#include <seep_variables.h>
#include <string.h>

#include "libprof/format/job_format.h"
#include "libprof/runtime/store/os.h"
#include "preload/objects/loader.h"

/* Static, because the program's stack is not known yet. */
static SEEP_LARGE char offered[SEEP_PATH_BYTES], taken[SEEP_PATH_BYTES];

static const char *folder_of(char *const *environment)
{
    static const char name[] = SEEP_VARIABLE_OUT "=";

    for (; environment && *environment; environment++)
        if (strncmp(*environment, name, sizeof(name) - 1) == 0)
            return *environment + sizeof(name) - 1;
    return "";
}

/* Of several objects that want to be first (-z initfirst), the loader lets the last be it: before
 * glibc 2.34 that is libpthread, and then any other may come before this one. */
static bool are_we_first(void)
{
    const struct link_map *self = seep_loader_self();

    for (const struct link_map *map = self ? self->l_next : NULL; map; map = map->l_next)
        for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
            if (entry->d_tag == DT_FLAGS_1 && entry->d_un.d_val & DF_1_INITFIRST)
                return false;
    return self;
}

void seep_first_start_begin(char *const *environment)
{
    static const char name[] = "/" SEEP_STARTING_FILE;
    enum { NUMBER = 24 }; /* "-PID" */
    const char *folder = folder_of(environment);
    const size_t n = strlen(folder);

    if (folder[0] != '/' || n + sizeof(name) + NUMBER > sizeof(taken))
        return;
    memcpy(offered, folder, n);
    memcpy(offered + n, name, sizeof(name));
    if (seep_os_call6(SYS_faccessat, AT_FDCWD, (long)offered, 0, 0, 0, 0) < 0 || !are_we_first())
        return;
    char *end = taken + n + sizeof(name) - 1;
    memcpy(taken, offered, n + sizeof(name));
    *end = '-';
    (void)seep_os_put_decimal(end + 1, (uint64_t)seep_os_pid());
    if (seep_os_call6(SYS_renameat, AT_FDCWD, (long)offered, AT_FDCWD, (long)taken, 0, 0) < 0)
        taken[0] = '\0';
}

void seep_first_start_end(void)
{
    if (taken[0])
        (void)seep_os_call3(SYS_unlinkat, AT_FDCWD, (long)taken, 0);
}
