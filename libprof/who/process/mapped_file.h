/* Where a file that a process has mapped can be opened from here. */
#ifndef SEEP_LIBPROF_WHO_PROCESS_MAPPED_FILE_H
#define SEEP_LIBPROF_WHO_PROCESS_MAPPED_FILE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { SEEP_MAPPED_PATH = 4200 };

/* Writes the path of the file that the maps of `pid` name: below the process's own root (a
 * container's), or as it is, for the maps of a process in a chroot have the whole path already.
 * False: neither is a file with that inode. */
bool seep_mapped_file(pid_t pid, const char *file, uint64_t inode, char path[SEEP_MAPPED_PATH]);

#endif
