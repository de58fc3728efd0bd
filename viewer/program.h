/* Finding the program of a job, and whether the shim can get into it. */
#ifndef SEEP_VIEWER_PROGRAM_H
#define SEEP_VIEWER_PROGRAM_H

#include "libprof/base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

#define SEEP_PART_SHIM "libseep.so"
#define SEEP_PART_SHOW "seep-show"

enum seep_program_state {
    SEEP_PROGRAM_OK = 0,
    SEEP_PROGRAM_NOT_FOUND,
    SEEP_PROGRAM_NOT_EXECUTABLE,
    SEEP_PROGRAM_REFUSED, /* it would run, but without the shim */
};

struct seep_program {
    enum seep_program_state state;
    char path[PATH_MAX];      /* what to exec; "" where not found */
    bool own_malloc;          /* it runs, but only its mappings are recorded */
    char why[PATH_MAX + 512]; /* for every state but OK: "what is wrong: what to do" */
};

/* Looks `name` up as execvp(3) does (a name with a slash is a path) and follows "#!" lines,
 * including those that use env(1), to the program that will run. Threads: any. Allocates:
 * nothing. */
void seep_program_find(const char *name, struct seep_program *program);

/* A label for a profile of argv: the base name of the program, or of the script or module where the
 * program is Python; only letters, digits, '.', '_' and '-', at most capacity − 1 bytes, never
 * "". */
void seep_program_label(char *const *argv, char *label, size_t capacity);

/* The path of another file of seep (SEEP_PART_…): beside this executable, else in ../lib/seep
 * relative to it. Returns 0, or -SEEP_ENODATA with the reason in *err. */
SEEP_MUST_CHECK int seep_program_part(const char *name, char *path, size_t capacity,
                                      struct seep_error *err);

#endif
