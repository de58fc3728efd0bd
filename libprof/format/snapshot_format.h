/* A frozen copy of a process of the job, from which an outside reader finds what holds memory: how
 * the job's table announces it, and what it has prepared in its own memory. The analysis treats all
 * fields as untrusted. Addresses are the copy's. */
#ifndef SEEP_LIBPROF_FORMAT_SNAPSHOT_FORMAT_H
#define SEEP_LIBPROF_FORMAT_SNAPSHOT_FORMAT_H

#include <stdbool.h>
#include <stdint.h>

#include "libprof/format/page_format.h"

enum { SEEP_SNAPSHOT_VERSION = 4 };
#define SEEP_SNAPSHOT_MAGIC UINT64_C(0x70616e7370656573) /* "seepsnap" */

/* What was touched and what was written is told in units of the least page of all machines. */
enum { SEEP_TOUCHED_PAGE = SEEP_LEAST_PAGE_BYTES };

/* A live block or map. */
struct seep_snapshot_block {
    uint64_t start;
    uint64_t bytes;
    uint32_t site; /* index in the process's profile: file offset / 64; 0: not known */
    union {
        uint32_t stands_for;    /* blocks of its line, itself included, where only some were
                                 * recorded; 0: for itself */
        uint32_t touched_pages; /* of a map that counts as far as it was touched; 0: all of it */
    };
};

struct seep_snapshot_range {
    uint64_t start, end;
};

/* In the copy's memory, at the address in its slot. */
struct seep_snapshot {
    uint64_t magic; /* stored last */
    uint32_t version;
    uint32_t python_version; /* as in the profile's header: hex, 0: none */
    uint64_t python_runtime; /* _PyRuntime, 0: not known */
    uint64_t blocks;         /* seep_snapshot_block[n_blocks]: of the malloc family */
    uint64_t n_blocks;
    uint64_t maps; /* seep_snapshot_block[n_maps]: what the job has mapped as memory */
    uint64_t n_maps;
    uint64_t own; /* seep_snapshot_range[n_own]: seep's own memory, which holds no blocks of the
                   * job */
    uint64_t n_own;
    uint64_t stack_pointer;  /* of the thread that was copied, */
    uint64_t thread_pointer; /* and its thread-local storage */
    uint32_t period;
    uint32_t step;
    uint32_t sampled; /* not 0: of small blocks only some were recorded */
    uint32_t reserved;
    uint64_t most_bytes;           /* of memory that its reader may take; 0: no bound */
    uint64_t block_room, map_room; /* of the lists: for the code that builds them */
};

enum seep_snapshot_state {
    SEEP_SNAPSHOT_FREE = 0, /* any process may take it */
    SEEP_SNAPSHOT_TAKEN,    /* a process makes its copy */
    SEEP_SNAPSHOT_READY,    /* the copy waits to be read, or the process itself */
    SEEP_SNAPSHOT_DONE,     /* it was read: the copy ends, or the process goes on; that frees the
                             * slot */
};

enum seep_snapshot_source {
    SEEP_SNAPSHOT_BY_STEP = 1, /* a step of the job ended */
    SEEP_SNAPSHOT_ASKED,       /* the job called seep_holders() */
    SEEP_SNAPSHOT_AT_END,      /* Python takes its modules apart, or the process calls _exit() */
};

/* Why a copy that was due was not made, or could not be read. */
enum seep_snapshot_refusal {
#define SEEP_COPY_REFUSAL(id, name) SEEP_REFUSED_##id,
#include "libprof/format/copy_refusals.def"
#undef SEEP_COPY_REFUSAL
    SEEP_N_SNAPSHOT_REFUSALS = 16,
};

/* What it takes to copy a page that is written to while there is a copy: measured with pages of
 * 4 KiB. Of a larger one each 4 KiB count as much, which is more than they take. */
enum { SEEP_SNAPSHOT_WRITE_NS = 700 };

/* The job's only slot: processes take turns. 64 bytes. */
struct seep_snapshot_slot {
    uint32_t state;  /* enum seep_snapshot_state; a futex's word */
    uint32_t reader; /* the reader's pid; 0: there is no reader, and no copy is made */
    uint32_t copy;   /* pid of the copy, or of the process if it waits itself */
    uint32_t process_plus_1;
    uint64_t snapshot;    /* address of its struct seep_snapshot */
    uint64_t taken_ns;    /* when: CLOCK_MONOTONIC */
    uint64_t stop_ns;     /* how long the thread that made it was stopped */
    uint8_t source;       /* enum seep_snapshot_source */
    uint8_t in_reserve;   /* what was read is analysed only if the job ends before a better copy */
    uint8_t in_place;     /* the process itself waits: there is no copy */
    uint8_t reader_waits; /* the reader of the last copy has waited long for a CPU: one more may be
                           * kept in reserve. By `seep run` */
    uint32_t reading; /* the copy being read, or read last by a reader that is still working on it;
                       * 0: none. By `seep run` */
    uint32_t written; /* 4 KiB of pages that the process wrote to while the copy existed, and which
                       * were copied then; 0: not known. By the copy, when it has been read */
    uint32_t wanted;  /* somebody outside asks for a copy of this process (its place in the table +
                       * 1) at the next occasion; 0: nobody, or it was tried */
    uint32_t step;    /* of the copy, 0: slices of time */
    uint32_t reader_namespace; /* of pids: its inode, 0 not known */
};

/* The outcome of a process's copies: in its profile's header. */
struct seep_snapshot_counts {
    uint32_t made;
    int32_t error; /* errno of the last one, 0: it was made */
    uint32_t refused[SEEP_N_SNAPSHOT_REFUSALS];
};

/* The outcome in the job, by `seep run`. */
struct seep_snapshot_reads {
    uint64_t cpu_ns;     /* of the readers, … */
    uint64_t taken_ns;   /* … and of that, while there was not a CPU for each task */
    uint64_t peak_bytes; /* resident, of the largest reader */
    uint32_t n_read;
    uint32_t n_failed; /* the reader's process died, or could not use it */
    uint32_t n_barred; /* the reader was not let into the copy's memory */
    uint32_t reserved;
};

/* Reading copies may take 1/SHARE of one CPU, for all of the job, plus this: FREE, which is two
 * copies of a job with torch, and 1/EARLY of the time until it is MOST. */
enum {
    SEEP_READING_SHARE = 50,
    SEEP_READING_EARLY = 10,
    SEEP_READING_FREE_MS = 2500,
    SEEP_READING_MOST_MS = 5000,
};

/* Whether one more copy may be read, if it takes as long as earlier ones did on average. */
static inline bool seep_snapshot_may_be_read(uint64_t read_ns, uint32_t n_read, uint64_t job_age_ns)
{
    const uint64_t next_ns = n_read ? read_ns / n_read : 0;
    const uint64_t most_ns = SEEP_READING_MOST_MS * UINT64_C(1000000);
    uint64_t free_ns = SEEP_READING_FREE_MS * UINT64_C(1000000) + job_age_ns / SEEP_READING_EARLY;
    free_ns = free_ns < most_ns ? free_ns : most_ns;
    return read_ns <= UINT64_MAX - next_ns &&
           read_ns + next_ns <= free_ns + job_age_ns / SEEP_READING_SHARE;
}

#endif
