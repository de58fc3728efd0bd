/* A core file: the memory of a process as it was when the kernel or a debugger wrote it down, read
 * like that of a process that stands still. What the file lacks of mapped files comes from these
 * files, if they are still the same. All of it is untrusted, and it may be cut short. */
#ifndef SEEP_LIBPROF_LOOK_CORE_FILE_H
#define SEEP_LIBPROF_LOOK_CORE_FILE_H

#include "libprof/look/core_maps.h"
#include "libprof/who/process/file_pages.h"

struct seep_core_file {
    struct seep_remote remote;
    int fd;
    uint64_t size;
    struct seep_core_segment *segments; /* [n] by address, none overlaps the one before */
    size_t n;
    struct seep_core_notes notes;
    char *maps_text; /* as /proc/PID/maps had it, */
    size_t n_maps_text;
    struct seep_maps maps; /* and parsed */
    struct seep_file_pages files;
    char missing[SEEP_CORE_MISSING]; /* what is not in it, in words; "": it is whole */
    char *pages;                     /* that are looked at */
};

/* Opens it. `program`: where the file of its program is now, NULL: where it was. Returns 0;
 * -SEEP_EIO; -SEEP_EFORMAT: it is no core file of this processor; -SEEP_EINVAL: `program` is
 * another one; -SEEP_ENOMEM. Allocates; seep_core_file_close() in either case. */
SEEP_MUST_CHECK int seep_core_file_open(struct seep_core_file *core, const char *path,
                                        const char *program, struct seep_error *err);
void seep_core_file_close(struct seep_core_file *core);

#endif
