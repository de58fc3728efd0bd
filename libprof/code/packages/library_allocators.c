#include "libprof/code/packages/library_allocators.h"

#include "libprof/base/text.h"
#include "libprof/code/name_patterns.h"
#include "libprof/words/python_file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct seep_library_allocator allocators[] = {
#define SEEP_LIBRARY_ALLOCATOR(library, package, function, distribution, allocator, live, setting) \
    {library, package, function, distribution, allocator, live, setting},
#include "libprof/code/packages/library_allocators.def"
#undef SEEP_LIBRARY_ALLOCATOR
};

enum {
    N_ALLOCATORS = sizeof allocators / sizeof *allocators,
    MAX_FRAMES = 24, /* from the request outwards that may be the allocator's */
};

/* ---- which one ------------------------------------------------------------------------------- */

static bool is_native(const struct seep_dict_frame *f)
{
    return f->kind == SEEP_FRAME_NATIVE;
}

static const char *path_of(const struct seep_dictionary *d, const struct seep_dict_frame *f)
{
    if (!is_native(f))
        return seep_dictionary_text(d, f->source);
    return f->source && !f->pseudo ? seep_dictionary_text(d, d->modules[f->source].path) : "";
}

/* Whether a file of no package asks on behalf of others: libc and the interpreter do, a malloc that
 * was preloaded does not. */
static bool only_passes_on(const char *path)
{
    return !*path || seep_name_fits("libc.so*|libstdc++.so*|libc++.so*|libpython*|python*",
                                    seep_text_base(path), false);
}

bool seep_package_that_asked(const struct seep_code *code, uint32_t stack,
                             char package[SEEP_PACKAGE_NAME])
{
    const struct seep_dictionary *d = &code->model->dict;
    const uint32_t line = code->lines->is_own[stack] ? code->lines->shown[stack] : 0;

    for (uint32_t s = stack; s && d->stacks[s].frame != line; s = d->stacks[s].parent) {
        const struct seep_dict_frame *f = &d->frames[d->stacks[s].frame];
        const bool known = seep_python_file_package(path_of(d, f), package, SEEP_PACKAGE_NAME);
        if (known && strcmp(package, "Python") != 0)
            return true;
        if (!known && is_native(f) && !only_passes_on(path_of(d, f)))
            break;
    }
    package[0] = '\0';
    return false;
}

/* The native frames from the request outwards. */
static size_t list_native(const struct seep_dictionary *d, uint32_t stack,
                          uint32_t frames[MAX_FRAMES])
{
    size_t n = 0;

    for (uint32_t s = stack; s && n < MAX_FRAMES && is_native(&d->frames[d->stacks[s].frame]);
         s = d->stacks[s].parent)
        frames[n++] = d->stacks[s].frame;
    return n;
}

static bool has_function(const struct seep_symbols *symbols, const char *patterns,
                         const uint32_t *frames, size_t n)
{
    const struct seep_symbol *symbol;

    for (size_t i = 0; i < n; i++)
        if (seep_symbols_get(symbols, frames[i], &symbol) && symbol[0].function &&
            seep_name_fits(patterns, symbol[0].function, false))
            return true;
    return false;
}

static bool is_of(const struct seep_library_allocator *its, const char *package)
{
    return seep_name_fits(its->package, package, false);
}

static bool any_is_of(const char *package)
{
    for (size_t i = 0; i < N_ALLOCATORS; i++)
        if (is_of(&allocators[i], package))
            return true;
    return false;
}

/* Names are looked up only where they decide: symbols of a library may be many. */
int seep_library_allocator_of_stack(const struct seep_code *code, uint32_t stack,
                                    const struct seep_library_allocator **out)
{
    char package[SEEP_PACKAGE_NAME];
    uint32_t frames[MAX_FRAMES];
    const size_t n = list_native(&code->model->dict, stack, frames);

    *out = NULL;
    if (!seep_package_that_asked(code, stack, package) || !any_is_of(package))
        return 0;
    const int rc = seep_symbols_resolve(code->symbols, frames, n);
    for (size_t i = 0; i < N_ALLOCATORS && !rc && !*out; i++)
        if (is_of(&allocators[i], package) &&
            (!n || has_function(code->symbols, allocators[i].function, frames, n)))
            *out = &allocators[i];
    return rc;
}

/* ---- its version ----------------------------------------------------------------------------- */

/* "26.0.1" of "pyarrow-26.0.1.dist-info"; false: it is another's. */
static bool take_version(const char *entry, const char *names, char *version, size_t n)
{
    const char *dash = strchr(entry, '-'), *end = dash ? strstr(dash, ".dist-info") : NULL;
    char name[SEEP_PACKAGE_NAME];

    if (!end || (size_t)(dash - entry) >= sizeof name || (size_t)(end - dash) > n)
        return false;
    snprintf(name, sizeof name, "%.*s", (int)(dash - entry), entry);
    snprintf(version, n, "%.*s", (int)(end - dash - 1), dash + 1);
    return seep_name_fits(names, name, false);
}

static bool find_version(const char *folder, const char *names, char *version, size_t n)
{
    DIR *dir = opendir(folder);
    const struct dirent *entry;
    bool found = false;

    while (dir && !found && (entry = readdir(dir)))
        found = take_version(entry->d_name, names, version, n);
    if (dir)
        closedir(dir);
    return found;
}

/* The folder of packages that a file lies in, and a slash; NULL: none. */
static char *packages_folder(const char *path)
{
    const char *at = strstr(path, "-packages/");

    return at ? strndup(path, (size_t)(at - path) + strlen("-packages/")) : NULL;
}

/* The path of the library, if its file is the one that the job used: names of its functions were
 * read. Else "". */
static const char *path_of_read(const struct seep_code *code, uint32_t stack)
{
    const struct seep_dictionary *d = &code->model->dict;
    const struct seep_symbol *symbol;
    uint32_t frames[MAX_FRAMES];
    const size_t n = list_native(d, stack, frames);

    for (size_t i = 0; i < n; i++)
        if (seep_symbols_get(code->symbols, frames[i], &symbol) && symbol[0].function &&
            strstr(path_of(d, &d->frames[frames[i]]), "-packages/"))
            return path_of(d, &d->frames[frames[i]]);
    return "";
}

char *seep_library_allocator_name(const struct seep_code *code, uint32_t stack,
                                  const struct seep_library_allocator *its)
{
    char version[SEEP_PACKAGE_NAME], *folder = packages_folder(path_of_read(code, stack));
    char *name = folder && find_version(folder, its->distribution, version, sizeof version)
                     ? seep_text_format("%s %s", its->library, version)
                     : strdup(its->library);

    free(folder);
    return name;
}
