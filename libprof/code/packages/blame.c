#include "libprof/code/packages/blame.h"

#include "libprof/base/text.h"
#include "libprof/code/code_origin.h"
#include "libprof/code/function_kinds.h"
#include "libprof/code/packages/distribution.h"
#include "libprof/words/python_file.h"

#include <stdio.h>
#include <string.h>

enum { MAX_CALLS = 6, NAME = 64 };

static const char *path_of(const struct seep_dictionary *d, const struct seep_dict_frame *frame)
{
    if (frame->kind == SEEP_FRAME_PYTHON)
        return seep_dictionary_text(d, frame->source);
    return frame->source ? seep_dictionary_text(d, d->modules[frame->source].path) : "";
}

bool seep_blame_passes_on(const struct seep_dictionary *d, const struct seep_dict_frame *frame)
{
    const char *path = path_of(d, frame);

    if (frame->kind == SEEP_FRAME_PYTHON)
        return seep_python_file_calls_c(path);
    return frame->pseudo || seep_native_passes_on(path);
}

void seep_package_name(const struct seep_model *m, const char *path, char name[SEEP_BLAME_NAME])
{
    struct seep_distribution its;

    if (!seep_distribution_of(path, m->processes[m->main].id.start_unix_ns, &its)) {
        if (!seep_python_file_package(path, name, SEEP_BLAME_NAME))
            snprintf(name, SEEP_BLAME_NAME, "%s", seep_text_base(path));
        return;
    }
    snprintf(name, SEEP_BLAME_NAME, "%s%s%s", its.name, *its.version ? " " : "", its.version);
}

bool seep_blame_is_library(const char *path)
{
    static const char *const system[] = {"/lib", "/usr/lib", "/opt/", "/usr/local/lib"};

    for (size_t i = 0; i < sizeof system / sizeof *system; i++) {
        if (strncmp(path, system[i], strlen(system[i])) == 0)
            return true;
    }
    return seep_python_file_is_library(path);
}

static bool is_library(const struct seep_dict_frame *frame, const char *path)
{
    return frame->kind == SEEP_FRAME_PYTHON ? seep_python_file_is_library(path)
                                            : seep_blame_is_library(path);
}

static void name_call(const struct seep_code *code, uint32_t frame, char name[NAME])
{
    const struct seep_dict_frame *f = &code->model->dict.frames[frame];
    struct seep_native_name native;

    if (f->kind == SEEP_FRAME_PYTHON) {
        snprintf(name, NAME, "%s", seep_dictionary_text(&code->model->dict, f->function));
        return;
    }
    const struct seep_symbol *symbol =
        seep_function_kinds_symbol(code->lines->kinds, code->symbols, frame);
    name[0] = '\0';
    if (symbol && symbol->function) {
        seep_native_name_set(&native, symbol);
        snprintf(name, NAME, "%.*s", NAME - 1,
                 native.qualname[0] ? native.qualname : symbol->function);
    }
}

static void add_call(struct seep_blame *blame, size_t *n, const char *name)
{
    const size_t used = strlen(blame->calls);

    if (!*name || *n == MAX_CALLS)
        return;
    snprintf(blame->calls + used, SEEP_BLAME_CHAIN - used, "%s%s", used ? " ← " : "", name);
    ++*n;
}

struct walk {
    const char *path; /* of the last frame, */
    char package[SEEP_BLAME_NAME];
    size_t n_calls;
};

/* A frame of a library on the way. What comes with Python is named only if nobody else is. */
static int take_frame(const struct seep_code *code, uint32_t frame, bool library, struct walk *walk,
                      struct seep_blame *blame)
{
    const struct seep_dictionary *d = &code->model->dict;
    const char *path = path_of(d, &d->frames[frame]);
    const char *package = walk->package;
    char name[NAME];

    if (strcmp(walk->path, path) != 0)
        seep_package_name(code->model, path, walk->package);
    walk->path = path;
    if (!*blame->made_in)
        memcpy(blame->made_in, package, sizeof blame->made_in);
    if (!*blame->package || strcmp(package, "Python") != 0) {
        memcpy(blame->package, package, sizeof blame->package);
        blame->is_own = !library;
    }
    if (strcmp(blame->made_in, package) != 0)
        return 0;
    if (seep_symbols_resolve(code->symbols, &frame, 1))
        return -SEEP_ENOMEM;
    name_call(code, frame, name);
    add_call(blame, &walk->n_calls, name);
    return 0;
}

int seep_blame_find(const struct seep_code *code, uint32_t stack, struct seep_blame *blame)
{
    const struct seep_dictionary *d = &code->model->dict;
    struct walk walk = {.path = ""};
    int rc = 0;

    *blame = (struct seep_blame){0};
    for (; stack && !rc; stack = d->stacks[stack].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[stack].frame];
        if (seep_blame_passes_on(d, f))
            continue;
        const bool library = is_library(f, path_of(d, f));
        if (!library && (*blame->package || f->kind == SEEP_FRAME_PYTHON))
            break; /* the user's own code */
        rc = take_frame(code, d->stacks[stack].frame, library, &walk, blame);
        if (!library)
            break;
    }
    return rc;
}
