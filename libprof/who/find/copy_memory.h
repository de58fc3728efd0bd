/* Reads the memory of a frozen copy of a process of the job, from outside, by /proc/PID/mem. Since
 * Linux 5.19 process_vm_readv() first copies each page that a fork has left shared, for it pins
 * them: the copy would take the job's memory once more, and half as much time again. What is in it
 * is untrusted, and so is what it says of itself. */
#ifndef SEEP_LIBPROF_WHO_FIND_COPY_MEMORY_H
#define SEEP_LIBPROF_WHO_FIND_COPY_MEMORY_H

#include "libprof/base/error.h"
#include "libprof/who/graph/memory.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct seep_copy_memory {
    pid_t pid;
    int fd;       /* of /proc/PID/mem, −1: not open, */
    bool no_file; /* and cannot be: then the call serves */
};

/* Opens nothing yet. */
void seep_copy_memory_init(struct seep_copy_memory *m, pid_t pid);
void seep_copy_memory_fini(struct seep_copy_memory *m);

/* Reads all of [address, address + bytes) to `to`. Returns 0; -SEEP_EIO: not all of it is there, or
 * may be read: errno is the kernel's word for it. */
SEEP_MUST_CHECK int seep_copy_memory_read(struct seep_copy_memory *m, uint64_t address, void *to,
                                          size_t bytes);

/* Reads several pieces, by few calls: returns how many bytes, from the first piece on, could be
 * read before one could not. */
size_t seep_copy_memory_gather(struct seep_copy_memory *m, const struct seep_memory_piece *pieces,
                               size_t n);

#endif
