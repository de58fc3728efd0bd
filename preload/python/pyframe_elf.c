/* Finds CPython among the loaded objects by the symbols it exports. */
#include "preload/python/pyframe_elf.h"

#include <string.h>

#include "libprof/runtime/store/os.h"
#include "preload/objects/elf_find.h"
#include "preload/objects/loader.h"

/* Whether an object's tables may be read: other objects could be unloaded meanwhile, but never the
 * program, and nobody unloads an interpreter while it loads. */
static bool is_candidate(const struct seep_object *o)
{
    return seep_loader_starting || !o->path[0] || strstr(o->path, "python");
}

static bool describe(const struct seep_object *o, bool is_program, struct seep_pyimage *image)
{
    struct seep_elf_exports e;

    if (!is_candidate(o) || !seep_elf_open(&e, o->bias, o->dynamic))
        return false;
    const ElfW(Sym) *eval = seep_elf_symbol(&e, "_PyEval_EvalFrameDefault");
    if (!eval)
        return false;
    const uintptr_t start = e.bias + eval->st_value;
    *image = (struct seep_pyimage){
        .bias = e.bias,
        .is_program = is_program,
        .path = is_program ? "" : o->map->l_name,
        .eh_frame_hdr = (uintptr_t)o->eh_frame_hdr,
        .text = {o->text_start, o->text_end},
        .eval = {start, start + eval->st_size},
        .runtime = seep_elf_address(&e, "_PyRuntime"),
        .thread_state = seep_elf_address(&e, "PyGILState_GetThisThreadState"),
        .version = seep_elf_address(&e, "Py_GetVersion"),
        .version_word = seep_elf_address(&e, "Py_Version"),
        .code_type = seep_elf_address(&e, "PyCode_Type"),
        .cell_type = seep_elf_address(&e, "PyCell_Type"),
    };
    return image->code_type && (image->version || image->version_word);
}

bool seep_pyimage_find(struct seep_pyimage *image)
{
    static SEEP_LARGE struct seep_object
        object; /* one thread attaches at a time; its stack may be small */
    const struct link_map *map = seep_loader_first();
    bool found = false;

    for (unsigned n = 0; map && !found && n < SEEP_LOADER_MOST; n++, map = seep_loader_next(map))
        found = seep_loader_describe(map, 0, &object) && describe(&object, n == 0, image);
    return found;
}

bool seep_pyimage_loaded(uintptr_t bias)
{
    const struct link_map *map = seep_loader_first();

    for (unsigned n = 0; map && n < SEEP_LOADER_MOST; n++, map = seep_loader_next(map)) {
        struct link_map copy;
        if (seep_loader_read((uintptr_t)map, &copy, sizeof(copy)) == sizeof(copy) &&
            copy.l_addr == bias)
            return true;
    }
    return false;
}
