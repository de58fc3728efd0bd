/* The mappings of a core file's process, as /proc/PID/maps had them: its segments, with the names
 * of the files that were mapped there. */
#ifndef SEEP_LIBPROF_LOOK_CORE_MAPS_H
#define SEEP_LIBPROF_LOOK_CORE_MAPS_H

#include "libprof/look/core_notes.h"
#include "libprof/who/process/remote.h"

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
