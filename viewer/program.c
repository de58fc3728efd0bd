#include "viewer/program.h"

#include "libprof/program/program_entry_words.h"
#include "libprof/runtime/program/program_entry.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MAX_INTERPRETERS = 5 }; /* as many as the kernel follows */

__attribute__((format(printf, 3, 4))) static void
judge(struct seep_program *program, enum seep_program_state state, const char *format, ...)
{
    va_list args;

    program->state = state;
    va_start(args, format);
    vsnprintf(program->why, sizeof program->why, format, args);
    va_end(args);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

/* For env(1): the name of the program that it will look up. */
static const char *name_for_env(char *arguments)
{
    char *save;

    for (char *word = strtok_r(arguments, " \t", &save); word;
         word = strtok_r(NULL, " \t", &save)) {
        if (word[0] != '-' && !strchr(word, '='))
            return word; /* not -S, -i, NAME=value */
    }
    return NULL;
}

static void judge_file(const char *path, struct seep_program *program, int depth)
{
    struct seep_program_entry entry;
    char line[SEEP_ENTRY_LINE_BYTES], found[PATH_MAX], text[256], *argument;
    int r = seep_entry_of_file(AT_FDCWD, path, &entry, line);

    if (entry.entry != SEEP_ENTRY_OK) {
        judge(program, SEEP_PROGRAM_REFUSED, "%s %s: %s", path,
              seep_entry_describe(&entry, text, sizeof text), seep_entry_advice(entry.entry));
        return;
    }
    program->own_malloc = entry.own_malloc;
    const char *interpreter =
        r == 1 && depth < MAX_INTERPRETERS ? seep_entry_interpreter(line, &argument) : NULL;
    if (!interpreter)
        return; /* may also be executable but not readable: the kernel decides */
    int error = strchr(interpreter, '/') ? -seep_entry_find(interpreter, NULL, found, sizeof found)
                                         : (access(interpreter, X_OK) < 0 ? errno : 0);
    if (error) {
        judge(program, SEEP_PROGRAM_NOT_EXECUTABLE,
              "%s needs the interpreter %s, which cannot be run (%s): install it, or correct the "
              "first line",
              path, interpreter, strerror(error));
        return;
    }
    judge_file(interpreter, program, depth + 1);
    const char *name =
        argument && strcmp(base_name(interpreter), "env") == 0 ? name_for_env(argument) : NULL;
    if (program->state == SEEP_PROGRAM_OK && name &&
        seep_entry_find(name, getenv("PATH"), found, sizeof found) == 0)
        judge_file(found, program, depth + 1);
}

/* A sanitizer's runtime that the user preloads must come first, and so must this library. */
static void judge_preload(struct seep_program *program)
{
    const char *preload = getenv("LD_PRELOAD"), *name;
    size_t n;

    if (program->state == SEEP_PROGRAM_OK && preload &&
        (name = seep_entry_sanitizer_in(preload, &n)))
        judge(program, SEEP_PROGRAM_REFUSED,
              "LD_PRELOAD names %.*s, a sanitizer's runtime, which must come first and has its own "
              "malloc: run seep without it",
              (int)(n < 256 ? n : 256), name);
}

void seep_program_find(const char *name, struct seep_program *program)
{
    memset(program, 0, sizeof *program);
    int error = -seep_entry_find(name, getenv("PATH"), program->path, sizeof program->path);
    if (error)
        program->path[0] = '\0';
    if (error == EACCES)
        judge(program, SEEP_PROGRAM_NOT_EXECUTABLE,
              "%s cannot be executed (%s): name a program, or make it executable", name,
              strerror(error));
    else if (error)
        judge(program, SEEP_PROGRAM_NOT_FOUND, "%s was not found (%s): check its name and PATH",
              name, strerror(error));
    else
        judge_file(program->path, program, 0);
    judge_preload(program);
}

static bool is_python(const char *name)
{
    return strncmp(name, "python", 6) == 0 && !name[6 + strspn(name + 6, "0123456789.")];
}

/* The script or module in the arguments of python, or NULL. */
static const char *python_script(char *const *argv)
{
    for (size_t i = 1; argv[i]; i++) {
        const char *word = argv[i];
        if (word[0] != '-')
            return word;
        if (!word[1] || word[1] == 'c')
            return NULL;
        if (word[1] == 'm')
            return word[2] ? word + 2 : argv[i + 1];
        bool takes_value = (word[1] == 'W' || word[1] == 'X') && !word[2];
        if ((takes_value || strcmp(word, "--check-hash-based-pycs") == 0) && argv[i + 1])
            i++;
    }
    return NULL;
}

void seep_program_label(char *const *argv, char *label, size_t capacity)
{
    const char *name = base_name(argv[0]);
    const char *script = is_python(name) ? python_script(argv) : NULL;
    size_t n = 0;

    if (script && *base_name(script))
        name = base_name(script);
    for (; *name && n + 1 < capacity; name++) {
        unsigned char c = (unsigned char)*name;
        label[n++] = isalnum(c) || c == '.' || c == '_' || c == '-' ? (char)c : '_';
    }
    if (n == 0)
        label[n++] = '_';
    label[n] = '\0';
}

int seep_program_part(const char *name, char *path, size_t capacity, struct seep_error *err)
{
    static const char *const places[] = {"", "../lib/seep/", "../lib64/seep/"};
    char self[PATH_MAX], candidate[PATH_MAX + 32], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n <= 0)
        return seep_error_set(err, SEEP_ENODATA, "/proc/self/exe", 0, "cannot be read");
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(candidate, sizeof candidate, "%s%s%s", self, places[i], name);
        if (access(candidate, R_OK) < 0 || !realpath(candidate, real))
            continue;
        if (strlen(real) >= capacity)
            return seep_error_set(err, SEEP_ENODATA, real, 0, "the path is too long");
        strcpy(path, real);
        return 0;
    }
    return seep_error_set(err, SEEP_ENODATA, self, 0, "%s is neither here nor in ../lib/seep",
                          name);
}
