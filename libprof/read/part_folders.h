/* A job of several machines, or of several launchers, has a folder of profiles for each of its
 * parts in one folder (`seep run -o DIR` under a launcher: DIR/HOST-PART). */
#ifndef SEEP_LIBPROF_READ_PART_FOLDERS_H
#define SEEP_LIBPROF_READ_PART_FOLDERS_H

#include "libprof/base/error.h"

#include <stdbool.h>
#include <stddef.h>

struct seep_part_folders {
    char **dirs; /* in the order of their names below each given folder */
    size_t n;
    bool more; /* there are more than are taken */
};

/* Finds the folders to read for those that were given: a folder that holds profiles is itself one,
 * and so are its parts on other machines, which say so in their tables. A folder that holds none
 * stands for those in it that do, or in the folders in it; if there are none, for itself. A folder
 * that cannot be read is taken if others beside it are, so that it is missed. Bounded: at most 4096
 * folders, and as many looked into. Symbolic links are not followed. Returns 0 or -SEEP_ENOMEM; the
 * caller calls seep_part_folders_fini() in either case. */
SEEP_MUST_CHECK int seep_part_folders_find(const char *const *given, size_t n_given,
                                           struct seep_part_folders *found);

void seep_part_folders_fini(struct seep_part_folders *found);

#endif
