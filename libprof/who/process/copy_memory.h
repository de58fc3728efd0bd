/* Reads the memory of a frozen copy of one of the job's processes, from outside, by /proc/PID/mem.
 * Since Linux 5.19 process_vm_readv() copies every page that a fork left shared before it pins the
 * page: the copy would take the job's memory once more, and half as much time again. The contents
 * are untrusted, and so is everything that the copy says of itself. */
#ifndef SEEP_LIBPROF_WHO_PROCESS_COPY_MEMORY_H
#define SEEP_LIBPROF_WHO_PROCESS_COPY_MEMORY_H

#include "libprof/base/error.h"
#include "libprof/who/graph/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct seep_copy_memory {
    pid_t pid;
    int fd;       /* of /proc/PID/mem; −1: not open, */
    bool no_file; /* and it cannot be opened: the system call serves instead */
};

/* Opens nothing yet. */
void seep_copy_memory_init(struct seep_copy_memory *m, pid_t pid);
void seep_copy_memory_fini(struct seep_copy_memory *m);

/* Reads all of [address, address + bytes) to `to`. Returns 0; -SEEP_EIO: some of it does not exist
 * or may not be read, and errno has the kernel's reason. */
SEEP_MUST_CHECK int seep_copy_memory_read(struct seep_copy_memory *m, uint64_t address, void *to,
                                          size_t bytes);

/* Reads several pieces by few calls. Returns how many bytes, counted from the first piece, could be
 * read before one could not. */
size_t seep_copy_memory_gather(struct seep_copy_memory *m, const struct seep_memory_piece *pieces,
                               size_t n);

#endif
