/* What a profile records of refused requests for host memory: malloc and its kin returned NULL, or
 * mmap failed, with ENOMEM. They have a table of their own beside that of GPUs (device_format.h):
 * other facts matter for them, and neither table can fill the other. */
#ifndef SEEP_LIBPROF_FORMAT_HOST_OOM_FORMAT_H
#define SEEP_LIBPROF_FORMAT_HOST_OOM_FORMAT_H

#include <stdint.h>

enum { SEEP_MAX_HOST_OOMS = 16 };

/* Consecutive refused requests at the same place are one entry: a place is a Python stack, or
 * without one the thread. For SEEP_RETRY_MS after the last of them its thread is watched: a program
 * that asks for less and gets it was only trying how much it can have. */
enum { SEEP_RETRY_MS = 1000 };

struct seep_host_oom {    /* 96 bytes */
    uint64_t t_ns;        /* of the last request; stored last; 0: not there */
    uint64_t asked_bytes; /* by the last request; UINT64_MAX: n × size overflows */
    /* When the first was refused: */
    uint64_t live_bytes;          /* recorded in host and mmap; other threads up to 64 KiB behind */
    uint64_t address_bytes;       /* size of the address space; 0: unknown */
    uint64_t data_bytes;          /* its part that counts for RLIMIT_DATA; 0: unknown */
    uint64_t limit_address_bytes; /* RLIMIT_AS; 0: none */
    uint64_t limit_data_bytes;    /* RLIMIT_DATA; 0: none */
    uint64_t met_bytes; /* the largest block that the thread got at that place while watched; 0:
                         * none */
    uint32_t met_period;
    uint32_t met_by_same; /* by the same call: the native stack was also the same */
    uint32_t period;      /* of the last request */
    uint32_t stack;       /* of the last request; ref, 0: unknown */
    uint32_t requests;    /* in a row */
    uint32_t reserved;
};

struct seep_host_ooms {
    uint32_t n;       /* keeps counting when the table is full: then the newest replaces one that
                       * was met, or the last */
    uint32_t is_busy; /* the writers'; a reader ignores it */
    struct seep_host_oom list[SEEP_MAX_HOST_OOMS];
};

#endif
