/* How large this process's address space is, and how large it may become. */
#ifndef SEEP_LIBPROF_RUNTIME_STORE_ADDRESS_SPACE_H
#define SEEP_LIBPROF_RUNTIME_STORE_ADDRESS_SPACE_H

#include <stdint.h>

struct seep_address_space {
    uint64_t bytes;
    uint64_t resident_bytes;
    uint64_t shared_bytes; /* part of resident_bytes: of files and shared */
    uint64_t data_bytes;   /* heaps, private maps that can be written to, and stacks */
};

/* All 0 if /proc does not say. Does not allocate; keeps errno. */
void seep_address_space_read(struct seep_address_space *space);

/* A limit of setrlimit(), as it is now; 0: none. Keeps errno. */
uint64_t seep_address_space_limit(int resource);

#endif
