/* A frozen copy of a process of the job, from which somebody outside reads who holds what: how it
 * is announced in the job's table, and what it has prepared in its own memory. All fields are read
 * by the analysis as untrusted. Addresses are of the copy. */
#ifndef SEEP_LIBPROF_FORMAT_SNAPSHOT_FORMAT_H
#define SEEP_LIBPROF_FORMAT_SNAPSHOT_FORMAT_H

#include <stdint.h>

enum { SEEP_SNAPSHOT_VERSION = 1 };
#define SEEP_SNAPSHOT_MAGIC UINT64_C(0x70616e7370656573) /* "seepsnap" */

/* A block or a map that is live. */
struct seep_snapshot_block {
    uint64_t start;
    uint64_t bytes;
    uint32_t site; /* index in the process's profile: file offset / 64; 0: not known */
    uint32_t reserved;
};

struct seep_snapshot_range {
    uint64_t start, end;
};

/* Lies in the copy, at the address that its slot says. */
struct seep_snapshot {
    uint64_t magic; /* stored last */
    uint32_t version;
    uint32_t python_version; /* as in the profile's header: hex, 0: none */
    uint64_t python_runtime; /* _PyRuntime, 0: not known */
    uint64_t blocks;         /* seep_snapshot_block[n_blocks]: of the malloc family */
    uint64_t n_blocks;
    uint64_t maps; /* seep_snapshot_block[n_maps]: what the job has mapped as memory */
    uint64_t n_maps;
    uint64_t own; /* seep_snapshot_range[n_own]: memory of seep's own, which holds nothing */
    uint64_t n_own;
    uint64_t stack_pointer;  /* of the thread that was copied, */
    uint64_t thread_pointer; /* and its thread-local storage */
    uint32_t period;
    uint32_t step;
};

enum seep_snapshot_state {
    SEEP_SNAPSHOT_FREE = 0, /* anybody's who takes it */
    SEEP_SNAPSHOT_TAKEN,    /* a process makes its copy */
    SEEP_SNAPSHOT_READY,    /* the copy waits to be read */
    SEEP_SNAPSHOT_DONE,     /* it has been: the copy ends, and frees the slot */
};

enum seep_snapshot_source {
    SEEP_SNAPSHOT_BY_STEP = 1, /* a step of the job came by */
    SEEP_SNAPSHOT_ASKED,       /* the job called seep_holders() */
};

/* The job's only one: processes wait for their turn. 64 bytes. */
struct seep_snapshot_slot {
    uint32_t state;  /* enum seep_snapshot_state; a futex's word */
    uint32_t reader; /* pid of who reads; 0: nobody would, and nobody makes a copy */
    uint32_t copy;   /* pid of the copy */
    uint32_t process_plus_1;
    uint64_t snapshot; /* address of its struct seep_snapshot */
    uint64_t taken_ns; /* when: CLOCK_MONOTONIC */
    uint64_t stop_ns;  /* how long the thread that made it was stopped */
    uint32_t source;   /* enum seep_snapshot_source */
    uint32_t reserved[3];
};

#endif
