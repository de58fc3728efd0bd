#include "libprof/runtime/program/program_entry.h"

#include <limits.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/statfs.h>
#include <unistd.h>

#include "libprof/runtime/program/program_elf.h"
#include "libprof/runtime/store/os.h"

enum { MAX_SCRIPTS = 5 }; /* as many as the kernel follows */

#ifndef ST_NOSUID
#define ST_NOSUID 2
#endif

static void judge(struct seep_program_entry *e, enum seep_entry entry, const char *detail)
{
    size_t n = strlen(detail);

    e->entry = entry;
    if (n >= sizeof e->detail)
        n = sizeof e->detail - 1;
    memcpy(e->detail, detail, n);
    e->detail[n] = '\0';
}

/* A file system or a process may not allow a program to gain rights. */
static bool rights_are_given(int fd)
{
    struct statfs fs;

    if (seep_os_call6(SYS_prctl, PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0, 0) == 1)
        return false;
    return seep_os_call3(SYS_fstatfs, fd, (long)&fs, 0) < 0 || !(fs.f_flags & ST_NOSUID);
}

/* The loader drops LD_PRELOAD if the program gains rights. Even if it would not (the owner runs a
 * setuid program), such a program scrubs the environment of what it starts: sudo and its kin. */
static void judge_rights(int fd, const struct stat *st, struct seep_program_entry *e)
{
    long uid = seep_os_call3(SYS_getuid, 0, 0, 0);

    if (st->st_mode & S_ISUID) {
        judge(e, SEEP_ENTRY_RIGHTS, "setuid");
        e->gains = st->st_uid != (uid_t)uid;
    } else if ((st->st_mode & S_ISGID) && (st->st_mode & S_IXGRP)) {
        judge(e, SEEP_ENTRY_RIGHTS, "setgid");
        e->gains = st->st_gid != (gid_t)seep_os_call3(SYS_getgid, 0, 0, 0);
    } else if (fd >= 0 &&
               seep_os_call6(SYS_fgetxattr, fd, (long)"security.capability", 0, 0, 0, 0) > 0) {
        judge(e, SEEP_ENTRY_RIGHTS, "file capabilities");
        e->gains = uid != 0;
    }
    e->gains = e->gains && (fd < 0 || rights_are_given(fd));
}

static void judge_elf(const struct seep_program_elf *elf, struct seep_program_entry *e)
{
    static const char loader[] = "ld-linux", lsb[] = "ld-lsb";

    if (elf->is_foreign)
        judge(e, SEEP_ENTRY_MACHINE, "");
    else if (elf->is_damaged)
        judge(e, SEEP_ENTRY_DAMAGED, "");
    else if (!elf->has_loader && strncmp(elf->soname, loader, sizeof loader - 1) == 0)
        judge(e, SEEP_ENTRY_OK, ""); /* the loader called by hand takes LD_PRELOAD too */
    else if (!elf->has_loader && strncmp(elf->soname, "libc", 4) == 0)
        judge(e, SEEP_ENTRY_LIBC, elf->soname); /* and so does musl's, which is its libc */
    else if (!elf->has_loader)
        judge(e, SEEP_ENTRY_STATIC, "");
    else if (strncmp(elf->loader, loader, sizeof loader - 1) != 0 &&
             strncmp(elf->loader, lsb, sizeof lsb - 1) != 0)
        judge(e, SEEP_ENTRY_LIBC, elf->loader);
    else if (elf->sanitizer[0] || elf->own_runtime)
        judge(e, SEEP_ENTRY_SANITIZER, elf->sanitizer);
    e->own_malloc = elf->own_malloc;
}

int seep_entry_of_file(int at, const char *path, struct seep_program_entry *e,
                       char line[SEEP_ENTRY_LINE_BYTES])
{
    struct seep_program_elf elf;
    struct stat st;

    memset(e, 0, sizeof *e);
    long r = seep_os_call6(SYS_newfstatat, at, (long)path, (long)&st, 0, 0, 0);
    if (r < 0)
        return (int)r;
    if (!S_ISREG(st.st_mode))
        return -EACCES; /* opening a pipe or a device may block, or have effects */
    int fd = (int)seep_os_call6(SYS_openat, at, (long)path,
                                O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY, 0, 0, 0);
    if (fd < 0) {
        judge_rights(-1, &st, e);
        return fd;
    }
    r = 0;
    if (seep_program_elf_read(fd, &elf)) {
        judge_elf(&elf, e);
        if (e->entry == SEEP_ENTRY_OK || e->entry == SEEP_ENTRY_STATIC)
            judge_rights(fd, &st, e);
    } else {
        memset(line, 0, SEEP_ENTRY_LINE_BYTES);
        r = seep_os_call6(SYS_pread64, fd, (long)line, SEEP_ENTRY_LINE_BYTES, 0, 0, 0);
        r = r >= 2 && line[0] == '#' && line[1] == '!';
    }
    seep_os_close(fd);
    return (int)r;
}

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

/* A name that reaches the end of what the kernel reads may be truncated: the kernel does not run
 * such a script. */
char *seep_entry_interpreter(char line[SEEP_ENTRY_LINE_BYTES], char **argument)
{
    char *end = memchr(line, '\n', SEEP_ENTRY_LINE_BYTES);
    char *name = line + 2, *last = line + SEEP_ENTRY_LINE_BYTES - 1;
    bool whole = end != NULL;

    *argument = NULL;
    if (!end)
        end = last;
    while (end > name && is_blank(end[-1]))
        end--;
    while (name < end && is_blank(*name))
        name++;
    char *stop = name;
    while (stop < end && *stop && !is_blank(*stop))
        stop++;
    if (stop == name || (stop == last && !whole && *stop && !is_blank(*stop)))
        return NULL;
    if (stop < end && *stop) {
        *argument = stop + 1;
        while (*argument < end && is_blank(**argument))
            ++*argument;
    }
    *stop = *end = '\0';
    if (*argument && !**argument)
        *argument = NULL;
    return name;
}

void seep_entry_of_exec(int at, const char *path, struct seep_program_entry *e)
{
    char line[SEEP_ENTRY_LINE_BYTES], *argument;
    int r = seep_entry_of_file(at, path, e, line);

    for (int i = 0; i < MAX_SCRIPTS && r == 1; i++) {
        char *interpreter = seep_entry_interpreter(line, &argument);
        if (!interpreter)
            return;
        /* The path is in the buffer, which is refilled only after the file was opened. */
        r = seep_entry_of_file(AT_FDCWD, interpreter, e, line);
    }
}

/* 0, or why the kernel would not run it. */
static int try_path(const char *path)
{
    struct stat st;
    long r = seep_os_call6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&st, 0, 0, 0);

    if (r < 0)
        return (int)r;
    if (!S_ISREG(st.st_mode))
        return -EACCES;
    r = seep_os_call6(SYS_faccessat2, AT_FDCWD, (long)path, X_OK, AT_EACCESS, 0, 0);
    if (r == -ENOSYS || r == -EPERM) /* before Linux 5.8, or a sandbox that does not know it */
        r = seep_os_call3(SYS_faccessat, AT_FDCWD, (long)path, X_OK);
    return (int)r;
}

int seep_entry_find(const char *name, const char *search, char *path, size_t capacity)
{
    size_t n = strlen(name);
    bool denied = false;

    path[0] = '\0';
    if (!n)
        return -ENOENT;
    if (n > NAME_MAX && !strchr(name, '/'))
        return -ENAMETOOLONG;
    if (strchr(name, '/')) {
        if (n >= capacity)
            return -ENAMETOOLONG;
        memcpy(path, name, n + 1);
        return try_path(path);
    }
    for (const char *p = search ? search : "/bin:/usr/bin";; p++) {
        size_t folder = strcspn(p, ":");
        size_t slash = folder > 0; /* an empty one is the working folder */
        if (folder + slash + n < capacity) {
            memcpy(path, p, folder);
            path[folder] = '/';
            memcpy(path + folder + slash, name, n + 1);
            int r = try_path(path);
            if (r == 0)
                return 0;
            denied |= r == -EACCES;
        } else if (folder + n < PATH_MAX) {
            path[0] = '\0';
            return -ENAMETOOLONG; /* execvp would look there */
        }
        p += folder;
        if (!*p)
            break;
    }
    path[0] = '\0';
    return denied ? -EACCES : -ENOENT;
}

const char *seep_entry_sanitizer_in(const char *list, size_t *length)
{
    while (*list) {
        size_t n = strcspn(list, ": ");
        if (seep_program_elf_is_sanitizer(list, n)) {
            *length = n;
            return list;
        }
        list += n + strspn(list + n, ": ");
    }
    return NULL;
}
