/* What the notes of a core file say of the process: who it was, and which files it had mapped. */
#ifndef SEEP_LIBPROF_LOOK_CORE_NOTES_H
#define SEEP_LIBPROF_LOOK_CORE_NOTES_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A file that was mapped at [start, end). */
struct seep_core_mapping {
    uint64_t start, end;
    uint64_t offset; /* in the file, bytes */
    const char *name;
};

enum { SEEP_CORE_COMMAND = 81 };

struct seep_core_notes {
    char *bytes;                        /* that they were parsed from */
    struct seep_core_mapping *mappings; /* [n] by address, none overlaps the one before */
    size_t n;
    pid_t pid, parent;               /* 0: not known */
    char command[SEEP_CORE_COMMAND]; /* the beginning of its command line; "": not known */
    uint64_t program;                /* an address in its program's file, 0: not known */
    uint64_t stack;                  /* an address in its main thread's stack, 0: not known */
};

/* Takes `bytes`, which were allocated, in either case; skips notes that are not whole. Returns 0 or
 * -SEEP_ENOMEM. Allocates; seep_core_notes_fini() in either case. */
SEEP_MUST_CHECK int seep_core_notes_parse(struct seep_core_notes *notes, char *bytes, size_t n);
void seep_core_notes_fini(struct seep_core_notes *notes);

/* The mapped file that contains `address`, or NULL. */
const struct seep_core_mapping *seep_core_mapping_at(const struct seep_core_notes *notes,
                                                     uint64_t address);

#endif
