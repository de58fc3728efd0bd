/* This part of report.json's coverage names allocators that are not libc's: those that replace a
 * process's malloc, and those inside libraries. */
#include "libprof/report/report_said.h"

#include "libprof/base/text.h"
#include "libprof/code/packages/library_allocators.h"
#include "libprof/program/own_allocator.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FILES = 24 }; /* that are examined */

/* Indices of coverage_seen[]. */
enum hook {
#define SEEP_HOOK(name, ...) HOOK_##name,
#include "libprof/format/hooks.def"
#undef SEEP_HOOK
};

/* ---- whose malloc -------------------------------------------------------------------------- */

/* libc itself calls malloc in any program that does something, unless another malloc replaces
 * it. */
static bool never_called_malloc(const struct seep_model_process *p)
{
    static const enum hook heap[] = {
        HOOK_malloc,         HOOK_calloc,        HOOK_realloc,  HOOK_reallocarray,
        HOOK_posix_memalign, HOOK_aligned_alloc, HOOK_memalign,
    };
    static const enum hook maps[] = {HOOK_mmap,    HOOK_mmap64, HOOK_mprotect,
                                     HOOK_madvise, HOOK_sbrk,   HOOK_brk};
    const struct seep_process_recording *r = &p->recording;
    bool any_heap = false, any_map = false;

    for (size_t i = 0; i < sizeof heap / sizeof *heap; i++)
        any_heap |= r->hooks_seen[heap[i]];
    for (size_t i = 0; i < sizeof maps / sizeof *maps; i++)
        any_map |= r->hooks_seen[maps[i]];
    return !r->inherits && any_map && !any_heap;
}

/* The file whose allocator the process used instead of the one that seep sees; NULL: none. */
static const char *own_malloc_of(const struct seep_model_process *p)
{
    if (p->id.allocator[0])
        return p->id.allocator;
    return never_called_malloc(p) && p->id.exe[0] ? p->id.exe : NULL;
}

/* Processes with the same one: by the file's path or, if only that is known, its name. */
struct own_malloc {
    const char *path;
    uint32_t pid;
    size_t n;
    bool never;
};

struct own_mallocs {
    struct own_malloc list[SEEP_SAID_MOST];
    size_t n;
};

static void note_own_malloc(struct own_mallocs *all, const char *path, uint32_t pid, bool never)
{
    size_t k = 0;

    if (!path)
        return;
    while (k < all->n && strcmp(all->list[k].path, path) != 0)
        k++;
    if (k == SEEP_SAID_MOST)
        return;
    if (k == all->n)
        all->list[all->n++] = (struct own_malloc){path, pid, 0, true};
    all->list[k].n++;
    all->list[k].never &= never;
}

static void say_own_malloc(struct seep_said *said, const struct own_malloc *own)
{
    char name[SEEP_OWN_ALLOCATOR_TEXT] = "", pids[64];
    struct seep_own_allocator found;

    if (said->pieces->may_open && own->path[0] == '/' && seep_own_allocator_find(own->path, &found))
        seep_own_allocator_text(&found, name);
    seep_said_add(said,
                  "%s: malloc was %s here: %s brings its own%s%s%s, whose blocks show only "
                  "in RSS and in its mappings. Use its own profiler, or build it without",
                  seep_said_pids(own->pid, own->n, pids),
                  own->never ? "never called" : "mostly not called", seep_text_base(own->path),
                  name[0] ? " (" : "", name, name[0] ? ")" : "");
}

static void say_own_mallocs(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    struct own_mallocs all = {.n = 0};

    for (size_t i = 0; i < m->n_processes; i++) {
        const struct seep_model_process *p = &m->processes[i];
        note_own_malloc(&all, own_malloc_of(p), p->id.pid, !p->recording.hooks_seen[HOOK_malloc]);
    }
    for (size_t i = 0; i < m->n_bares; i++) {
        const struct seep_process *e = m->bares[i].entry;
        if (e->flags & SEEP_PROCESS_OWN_MALLOC)
            note_own_malloc(&all, e->name, e->pid, true);
    }
    for (size_t i = 0; i < all.n; i++)
        say_own_malloc(said, &all.list[i]);
}

/* ---- allocators inside libraries ----------------------------------------------------------- */

/* The module that asked for a map: the innermost frame's. 0: none. */
static uint32_t asking_module(const struct seep_model *m, const struct seep_model_site *site)
{
    enum seep_space_class class = m->spaces[site->space].name.class;
    const struct seep_dict_frame *f = &m->dict.frames[m->dict.stacks[site->stack].frame];

    if (!site->stack || f->kind != SEEP_FRAME_NATIVE || f->pseudo ||
        (class != SEEP_CLASS_MMAP && class != SEEP_CLASS_SHM))
        return 0;
    return f->source;
}

static bool is_own_malloc_of_any(const struct seep_model *m, const char *path)
{
    for (size_t i = 0; i < m->n_processes; i++) {
        const char *its = own_malloc_of(&m->processes[i]);
        if (its && strcmp(its, path) == 0)
            return true;
    }
    return false;
}

/* CPython includes mimalloc from 3.13 on. With it or with its own allocator, what it maps are
 * arenas of its objects, which seep knows. */
static bool is_interpreter(const char *path)
{
    const char *name = seep_text_base(path);

    return strncmp(name, "libpython", 9) == 0 || strncmp(name, "python", 6) == 0;
}

/* A file may contain several; who asked for the map is the one that is used. */
static int find_allocator(const struct seep_code *code, uint32_t stack, const char *path,
                          char name[SEEP_OWN_ALLOCATOR_TEXT])
{
    const struct seep_library_allocator *its;
    struct seep_own_allocator found;

    *name = '\0';
    if (seep_library_allocator_of_stack(code, stack, &its))
        return -SEEP_ENOMEM;
    if (seep_own_allocator_find(path, &found))
        seep_own_allocator_text(&found, name);
    if (its && strncmp(name, its->allocator, strlen(its->allocator)) != 0)
        snprintf(name, SEEP_OWN_ALLOCATOR_TEXT, "%s", its->allocator);
    return 0;
}

static int add_library(const struct seep_code *code, uint32_t stack, const char *path, char *text,
                       size_t capacity)
{
    char name[SEEP_OWN_ALLOCATOR_TEXT];
    const size_t n = strlen(text);

    if (is_interpreter(path) || is_own_malloc_of_any(code->model, path))
        return 0;
    const int rc = find_allocator(code, stack, path, name);
    if (!rc && *name)
        snprintf(text + n, capacity - n, "%s%s (%s)", n ? ", " : "", seep_text_base(path), name);
    return rc;
}

static void say_libraries(struct seep_said *said)
{
    const struct seep_model *m = said->pieces->code->model;
    bool *asked = said->pieces->may_open ? calloc(m->dict.n_modules + 1, sizeof *asked) : NULL;
    size_t n_looked = 0;
    char text[1024] = "";

    for (size_t i = 0; i < m->n_sites && asked && n_looked < MAX_FILES; i++) {
        uint32_t module = asking_module(m, &m->sites[i]);
        if (!module || asked[module])
            continue;
        asked[module] = true;
        n_looked++;
        said->failed |= add_library(said->pieces->code, m->sites[i].stack,
                                    seep_dictionary_text(&m->dict, m->dict.modules[module].path),
                                    text, sizeof text) != 0;
    }
    said->failed |= said->pieces->may_open && !asked;
    free(asked);
    if (text[0])
        seep_said_add(said,
                      "libraries with their own allocator: %s: seep records the memory that they "
                      "map, but not the blocks that they hand out",
                      text);
}

void seep_said_allocators(struct seep_said *said)
{
    say_own_mallocs(said);
    say_libraries(said);
}
