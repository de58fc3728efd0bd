/* What a program file means for a preloaded library: one judgement for `seep run`, the doctor and
 * the hooks of exec and posix_spawn. Runtime part: raw system calls, at most 2 KiB of stack
 * together, no static state, so a child of vfork may call it. Any bytes are safe. */
#ifndef SEEP_LIBPROF_RUNTIME_PROGRAM_PROGRAM_ENTRY_H
#define SEEP_LIBPROF_RUNTIME_PROGRAM_PROGRAM_ENTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "libprof/format/profile_format.h"

enum {
    SEEP_ENTRY_DETAIL_BYTES = 64,
    SEEP_ENTRY_LINE_BYTES = 256, /* what the kernel reads of a script */
    SEEP_ENTRY_PATH_BYTES = 512, /* the longest path that the hooks look up along PATH */
};

struct seep_program_entry {
    enum seep_entry entry;
    bool gains;      /* RIGHTS: it would gain them when this process runs it now */
    bool own_malloc; /* it brings its own malloc: only maps are seen */
    /* LIBC: base name of its loader. SANITIZER: that of the runtime library, "" where it is linked
     * in. RIGHTS: "setuid", "setgid" or "file capabilities". Else "". */
    char detail[SEEP_ENTRY_DETAIL_BYTES];
};

/* Judges the program at `path` itself; relative to the folder `at` (or AT_FDCWD). Returns 0, 1 for
 * a script, whose first line is then in `line`, or a negative errno if it cannot be read: then the
 * judgement is by its mode, SEEP_ENTRY_OK at best. */
int seep_entry_of_file(int at, const char *path, struct seep_program_entry *entry,
                       char line[SEEP_ENTRY_LINE_BYTES]);

/* Judges what execve(2) of `path` finally runs: follows "#!" lines as the kernel does. An
 * unreadable file is SEEP_ENTRY_OK: the kernel decides. */
void seep_entry_of_exec(int at, const char *path, struct seep_program_entry *entry);

/* Parses "#! interpreter [argument]" in place. NULL: the kernel would not run it. *argument is NULL
 * if there is none. */
char *seep_entry_interpreter(char line[SEEP_ENTRY_LINE_BYTES], char **argument);

/* execvp's search: `name` with a slash is a path, else it is looked for in the folders of `search`
 * (the value of PATH; NULL: that variable is not set). Returns 0, or the negative errno that execvp
 * ends with: -ENOENT, -EACCES; -ENAMETOOLONG where a path does not fit `capacity`. */
int seep_entry_find(const char *name, const char *search, char *path, size_t capacity);

/* A list of libraries (LD_PRELOAD's) names the runtime of a sanitizer: its start and length, or
 * NULL. */
const char *seep_entry_sanitizer_in(const char *list, size_t *length);

#endif
