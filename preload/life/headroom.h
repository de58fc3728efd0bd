/* How much more memory this process may take before a limit is reached. */
#ifndef SEEP_PRELOAD_LIFE_HEADROOM_H
#define SEEP_PRELOAD_LIFE_HEADROOM_H

#include <stdint.h>

struct seep_headroom {
    uint64_t left_bytes;      /* to the nearest limit: of a cgroup, of RAM, of the address space */
    uint64_t anonymous_bytes; /* resident, and not a file's: what a fork may have to copy */
};

/* Asks the kernel, which takes some tens of microseconds. A limit that the kernel does not report
 * is ignored. Allocates nothing; static buffers: one thread at a time. */
void seep_headroom_read(struct seep_headroom *room);

#endif
