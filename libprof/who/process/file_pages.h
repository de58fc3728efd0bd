/* A process's file pages that it has not changed, read from the files: so names and constants need
 * not be copied. A file is believed only if it is still the one that was mapped. */
#ifndef SEEP_LIBPROF_WHO_PROCESS_FILE_PAGES_H
#define SEEP_LIBPROF_WHO_PROCESS_FILE_PAGES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libprof/base/error.h"
#include "libprof/who/graph/process_maps.h"

struct seep_file_pages {
    const struct seep_maps *maps;
    int *fds; /* by file; −1: the file is gone, or is another one */
};

/* Opens the files of the mappings as `pid` sees them, or else as we do. `maps` outlives *pages.
 * Returns 0 or -SEEP_ENOMEM. Allocates; seep_file_pages_fini() in either case. */
SEEP_MUST_CHECK int seep_file_pages_init(struct seep_file_pages *pages,
                                         const struct seep_maps *maps, pid_t pid);
void seep_file_pages_fini(struct seep_file_pages *pages);

/* Whether the unchanged pages of a mapping can be read here. */
bool seep_file_pages_has(const struct seep_file_pages *pages, const struct seep_map *map);

/* A source of seep_memory; `pages` is a struct seep_file_pages. */
size_t seep_file_pages_read(void *pages, uint64_t address, void *to, size_t n);

/* Where a file that a process has mapped can be opened from here. */

enum { SEEP_MAPPED_PATH = 4200 };

/* Writes the path of the file that the maps of `pid` name: below the process's own root (a
 * container's), or as it is, for the maps of a process in a chroot have the whole path already.
 * False: neither is a file with that inode. */
bool seep_mapped_file(pid_t pid, const char *file, uint64_t inode, char path[SEEP_MAPPED_PATH]);

#endif
