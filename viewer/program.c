#include "viewer/program.h"

#include <ctype.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
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

static bool is_program(const char *path, int *error)
{
    struct stat st;

    if (stat(path, &st) < 0) {
        *error = errno;
        return false;
    }
    if (S_ISDIR(st.st_mode) || access(path, X_OK) < 0) {
        *error = EACCES;
        return false;
    }
    return true;
}

/* execvp's search. Returns 0 with the path, or the errno that tells why not. */
static int look_up(const char *name, char path[PATH_MAX])
{
    int error = ENOENT, denied = 0;

    if (!*name)
        return ENOENT;
    if (strchr(name, '/')) {
        if ((size_t)snprintf(path, PATH_MAX, "%s", name) >= PATH_MAX)
            return ENAMETOOLONG;
        return is_program(path, &error) ? 0 : error;
    }
    const char *list = getenv("PATH");
    if (!list)
        list = "/bin:/usr/bin";
    for (const char *p = list;; p++) {
        size_t n = strcspn(p, ":");
        const char *folder = n ? p : ".";
        int folder_bytes = n ? (int)n : 1;
        if ((size_t)snprintf(path, PATH_MAX, "%.*s/%s", folder_bytes, folder, name) < PATH_MAX) {
            if (is_program(path, &error))
                return 0;
            denied |= error == EACCES;
        }
        p += n;
        if (!*p)
            break;
    }
    path[0] = '\0';
    return denied ? EACCES : ENOENT;
}

/* The loader drops LD_PRELOAD where the program gains rights. Where it would not (the owner runs a
 * setuid program) such a program still scrubs the environment of what it starts: sudo and its kin.
 */
static bool gains_rights(int fd, const char *path, struct seep_program *program)
{
    struct stat st;
    char capability[64];

    if (fstat(fd, &st) == 0 && (st.st_mode & S_ISUID))
        judge(program, SEEP_PROGRAM_REFUSED,
              "%s is a setuid program, where LD_PRELOAD is dropped: run seep inside of it instead",
              path);
    else if (fstat(fd, &st) == 0 && (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP))
        judge(program, SEEP_PROGRAM_REFUSED,
              "%s is a setgid program, where LD_PRELOAD is dropped: run seep inside of it instead",
              path);
    else if (fgetxattr(fd, "security.capability", capability, sizeof capability) > 0)
        judge(program, SEEP_PROGRAM_REFUSED,
              "%s has file capabilities, where LD_PRELOAD is dropped: run a copy without them",
              path);
    return program->state != SEEP_PROGRAM_OK;
}

/* Reads the path in PT_INTERP. 1 found, 0 there is none, -1 not readable as ELF. */
static int read_interpreter(int fd, const Elf64_Ehdr *h, char *text, size_t capacity)
{
    for (unsigned i = 0; i < h->e_phnum; i++) {
        Elf64_Phdr ph;
        if (pread(fd, &ph, sizeof ph, (off_t)(h->e_phoff + (uint64_t)i * sizeof ph)) !=
            (ssize_t)sizeof ph)
            return -1;
        if (ph.p_type != PT_INTERP)
            continue;
        size_t n = ph.p_filesz < capacity ? ph.p_filesz : capacity - 1;
        if (pread(fd, text, n, (off_t)ph.p_offset) != (ssize_t)n)
            return -1;
        text[n] = '\0';
        return 1;
    }
    return 0;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static void judge_elf(int fd, const char *path, struct seep_program *program)
{
    Elf64_Ehdr h;
    char loader[PATH_MAX];

    if (pread(fd, &h, sizeof h, 0) != (ssize_t)sizeof h || h.e_ident[EI_CLASS] != ELFCLASS64 ||
        h.e_ident[EI_DATA] != ELFDATA2LSB || h.e_machine != EM_X86_64) {
        judge(program, SEEP_PROGRAM_REFUSED,
              "%s is not a 64-bit x86 program: run a build for x86-64", path);
        return;
    }
    if (gains_rights(fd, path, program))
        return;
    int found =
        h.e_phentsize == sizeof(Elf64_Phdr) ? read_interpreter(fd, &h, loader, sizeof loader) : -1;
    if (found < 0)
        judge(program, SEEP_PROGRAM_REFUSED, "%s is a damaged program: build or install it again",
              path);
    else if (found == 0 && strncmp(base_name(path), "ld-linux", 8) == 0)
        return; /* the loader called by hand takes LD_PRELOAD too */
    else if (found == 0)
        judge(program, SEEP_PROGRAM_REFUSED,
              "%s is a static program, where LD_PRELOAD has no effect: link it dynamically", path);
    else if (strstr(loader, "musl"))
        judge(program, SEEP_PROGRAM_REFUSED,
              "%s is linked with musl, and libseep.so needs glibc: run a glibc build of it", path);
    else if (strncmp(base_name(loader), "ld-linux", 8) != 0)
        judge(program, SEEP_PROGRAM_REFUSED,
              "%s wants the loader %s, and libseep.so needs glibc: run a glibc build of it", path,
              loader);
}

/* Takes "#! interpreter [argument]" apart; for env(1) `name` is the program that env will look up.
 */
static bool read_shebang(char *line, const char **interpreter, const char **name)
{
    char *save, *p = line + 2 + strspn(line + 2, " \t");

    p[strcspn(p, "\n")] = '\0';
    *name = NULL;
    *interpreter = strtok_r(p, " \t", &save);
    if (!*interpreter)
        return false;
    if (strcmp(base_name(*interpreter), "env") != 0)
        return true;
    for (char *word; (word = strtok_r(NULL, " \t", &save));) {
        if (word[0] == '-' || strchr(word, '='))
            continue; /* -S, -i, NAME=value */
        *name = word;
        break;
    }
    return true;
}

static void judge_file(const char *path, struct seep_program *program, int depth)
{
    char head[512] = "", found[PATH_MAX];
    const char *interpreter, *name;
    int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0)
        return; /* executable but not readable: the kernel decides */
    ssize_t n = pread(fd, head, sizeof head - 1, 0);
    if (n >= SELFMAG && memcmp(head, ELFMAG, SELFMAG) == 0) {
        judge_elf(fd, path, program);
    } else if (n >= 2 && head[0] == '#' && head[1] == '!' && depth < MAX_INTERPRETERS &&
               read_shebang(head, &interpreter, &name)) {
        int error = 0;
        if (!is_program(interpreter, &error))
            judge(program, SEEP_PROGRAM_NOT_EXECUTABLE,
                  "the interpreter of %s, %s, cannot be run (%s): install it or correct the first "
                  "line",
                  path, interpreter, strerror(error));
        else
            judge_file(interpreter, program, depth + 1);
        if (program->state == SEEP_PROGRAM_OK && name && look_up(name, found) == 0)
            judge_file(found, program, depth + 1);
    }
    close(fd);
}

void seep_program_find(const char *name, struct seep_program *program)
{
    memset(program, 0, sizeof *program);
    int error = look_up(name, program->path);
    if (error == EACCES)
        judge(program, SEEP_PROGRAM_NOT_EXECUTABLE,
              "%s cannot be executed (%s): name a program, or give it the permission", name,
              strerror(error));
    else if (error)
        judge(program, SEEP_PROGRAM_NOT_FOUND, "%s is not found (%s): check its name and PATH",
              name, strerror(error));
    else
        judge_file(program->path, program, 0);
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

int seep_program_shim(char *path, size_t capacity, struct seep_error *err)
{
    static const char *const places[] = {"libseep.so", "../lib/seep/libseep.so",
                                         "../lib64/seep/libseep.so"};
    char self[PATH_MAX], candidate[PATH_MAX + 32], real[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);

    if (n <= 0)
        return seep_error_set(err, SEEP_ENODATA, "/proc/self/exe", 0, "cannot be read");
    self[n] = '\0';
    char *slash = strrchr(self, '/');
    if (slash)
        slash[1] = '\0';
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        snprintf(candidate, sizeof candidate, "%s%s", self, places[i]);
        if (access(candidate, R_OK) < 0 || !realpath(candidate, real))
            continue;
        if (strlen(real) >= capacity)
            return seep_error_set(err, SEEP_ENODATA, real, 0, "the path is too long");
        strcpy(path, real);
        return 0;
    }
    return seep_error_set(err, SEEP_ENODATA, self, 0,
                          "libseep.so is neither here nor in ../lib/seep");
}
