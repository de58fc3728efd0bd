#include "preload/life/program_kind.h"

#include <string.h>

#include "preload/objects/elf_find.h"
#include "preload/objects/loader.h"

bool seep_program_is_bystander;

bool seep_program_exports(const char *name)
{
    struct seep_elf_exports e;
    const struct link_map *program = seep_loader_first();
    return program && seep_elf_open(&e, program->l_addr, program->l_ld) &&
           seep_elf_symbol(&e, name);
}

bool seep_program_is_python(void)
{
    for (const struct link_map *map = seep_loader_first(); map; map = map->l_next)
        if (map->l_name && strstr(map->l_name, "libpython"))
            return true;
    return seep_program_exports("_PyEval_EvalFrameDefault");
}

bool seep_program_is_starter(const char *name)
{
    static const char *const names[] = {"bash", "sh",      "dash", "zsh",   "ksh",   "busybox",
                                        "env",  "timeout", "nice", "xargs", "nohup", "setsid",
                                        "make", "setpriv", "time", "stdbuf"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}
