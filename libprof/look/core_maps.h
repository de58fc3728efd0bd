/* The mappings of a core file's process, as /proc/PID/maps had them: its segments, with the names
 * of the files that were mapped there. */
#ifndef SEEP_LIBPROF_LOOK_CORE_MAPS_H
#define SEEP_LIBPROF_LOOK_CORE_MAPS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "libprof/base/error.h"
#include "libprof/who/process/remote.h"

/* What the notes of a core file say of the process: who it was, and which files it had mapped. */

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
    uint64_t page_bytes;             /* of the machine, 0: not known */
    uint64_t stack;                  /* an address in its main thread's stack, 0: not known */
};

/* Takes `bytes`, which were allocated, in either case; skips notes that are not whole. Returns 0 or
 * -SEEP_ENOMEM. Allocates; seep_core_notes_fini() in either case. */
SEEP_MUST_CHECK int seep_core_notes_parse(struct seep_core_notes *notes, char *bytes, size_t n);
void seep_core_notes_fini(struct seep_core_notes *notes);

/* The mapped file that contains `address`, or NULL. */
const struct seep_core_mapping *seep_core_mapping_at(const struct seep_core_notes *notes,
                                                     uint64_t address);

/* A range of the process's memory. */
struct seep_core_segment {
    uint64_t start, end;
    uint64_t offset, bytes; /* where the core file has its contents, and how much of them */
    uint32_t flags;         /* PF_R, PF_W, PF_X */
    bool left_out;          /* nothing of it was ever written to the file */
};

enum { SEEP_CORE_MISSING = 512 };

struct seep_core_parts {
    const struct seep_core_segment *segments; /* [n] by address, none overlaps the one before */
    size_t n;
    const struct seep_core_notes *notes;
    struct seep_remote *remote; /* reads what is in the segments */
    const char *program;        /* where the program's file is now; NULL: where it was */
    char *missing;              /* [SEEP_CORE_MISSING] */
};

/* Writes them as text, for seep_maps_parse(), and adds to `missing` what was left out and which
 * files are not those that were mapped: these have no inode, and nobody reads them. Returns 0;
 * -SEEP_EINVAL: `program` is another one; -SEEP_ENOMEM. Allocates *text: free() it in either case.
 */
SEEP_MUST_CHECK int seep_core_maps_write(const struct seep_core_parts *parts, char **text,
                                         size_t *n, struct seep_error *err);

/* Adds a sentence to what is missing in a core file. */
void seep_core_miss(char missing[SEEP_CORE_MISSING], const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
