#include "libprof/code/code_origin.h"

#include "libprof/words/python_file.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* The package that ships with seep: installed, from a wheel or in the build folder. */
static bool is_own_module(const char *file)
{
    return strstr(file, "/seep/python/seep/") || strstr(file, "/build/python/seep/") ||
           strstr(file, "-packages/seep/");
}

static enum seep_origin python_origin(const char *file)
{
    if (strncmp(file, "<frozen importlib", 17) == 0)
        return SEEP_ORIGIN_IMPORT;
    if (strncmp(file, "<__array_function__", 19) == 0)
        return SEEP_ORIGIN_LIBRARY;
    if (is_own_module(file))
        return SEEP_ORIGIN_SEEP;
    if (seep_python_file_is_library(file))
        return strstr(file, "/importlib/") ? SEEP_ORIGIN_IMPORT : SEEP_ORIGIN_LIBRARY;
    return SEEP_ORIGIN_USER;
}

static bool starts_with(const char *text, const char *prefix)
{
    return strncmp(text, prefix, strlen(prefix)) == 0;
}

/* The folders of a distribution's libraries: /lib, /lib64, /lib32, /libx32, the same below /usr,
 * and /usr/libexec. The names of users' folders may begin the same way. */
static bool in_system_library(const char *path)
{
    static const char *const ends[] = {"/", "64/", "32/", "x32/", "exec/"};

    if (starts_with(path, "/usr/"))
        path += 4;
    if (!starts_with(path, "/lib"))
        return false;
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
        if (starts_with(path + 4, ends[i]))
            return true;
    return false;
}

/* python, python3, python3.11t, python3.8-dbg, but not every file whose name begins like that. */
static bool is_interpreter(const char *name)
{
    if (!starts_with(name, "python"))
        return false;
    const char *version = name + 6, *end = version + strspn(version, "0123456789.");
    if (end > version && *end == '-')
        return true;
    return end[strspn(end, "dmtu")] == '\0';
}

bool seep_native_is_python(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

    return is_interpreter(base) ||
           (starts_with(base, "libpython") && isdigit((unsigned char)base[9]));
}

bool seep_native_passes_on(const char *path)
{
    static const char *const files[] = {"libc.so",     "libc-",       "libstdc++",    "libgcc_s",
                                        "libc++",      "ld-linux",    "libseep",      "libjemalloc",
                                        "libtcmalloc", "libmimalloc", "libffi",       "_ctypes",
                                        "libpthread",  "libdl",       "_cffi_backend"};
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;

    if (!*base || seep_native_is_python(path))
        return true;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++)
        if (starts_with(base, files[i]))
            return true;
    return false;
}

static enum seep_origin native_origin(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;

    if (starts_with(base, "libseep.so"))
        return SEEP_ORIGIN_SEEP;
    if (path[0] != '/' || in_system_library(path) ||
        (strstr(base, ".so") && (strstr(path, "/lib/") || strstr(path, "/lib64/"))) ||
        seep_native_is_python(path) || seep_python_file_is_library(path))
        return SEEP_ORIGIN_LIBRARY;
    return SEEP_ORIGIN_USER;
}

int seep_origins_init(struct seep_origins *origins, const struct seep_dictionary *d)
{
    *origins = (struct seep_origins){
        .d = d, .of_string = calloc(d->n_strings, 1), .of_module = calloc(d->n_modules, 1)};
    if (origins->of_string && origins->of_module)
        return 0;
    seep_origins_fini(origins);
    return -SEEP_ENOMEM;
}

void seep_origins_fini(struct seep_origins *origins)
{
    free(origins->of_string);
    free(origins->of_module);
    *origins = (struct seep_origins){0};
}

enum seep_origin seep_origin_of(struct seep_origins *origins, const struct seep_dict_frame *f)
{
    const struct seep_dictionary *d = origins->d;

    if (f->kind == SEEP_FRAME_PYTHON) {
        uint8_t *known = &origins->of_string[f->source];
        if (!*known)
            *known = (uint8_t)python_origin(seep_dictionary_text(d, f->source));
        return *known;
    }
    if (f->pseudo || !f->source)
        return SEEP_ORIGIN_LIBRARY;
    uint8_t *known = &origins->of_module[f->source];
    if (!*known)
        *known = (uint8_t)native_origin(seep_dictionary_text(d, d->modules[f->source].path));
    return *known;
}
