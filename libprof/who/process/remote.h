/* The memory of a process, to be read from outside: that of a process that runs, stands still or is
 * a frozen copy, or what a core file has of one. All of it is untrusted. Threads: none may share
 * one. */
#ifndef SEEP_LIBPROF_WHO_PROCESS_REMOTE_H
#define SEEP_LIBPROF_WHO_PROCESS_REMOTE_H

#include "libprof/who/graph/process_maps.h"
#include "libprof/who/process/copy_memory.h"
#include "libprof/who/process/page_states.h"

struct seep_remote {
    /* Reads several pieces, and returns how many bytes, counted from the first, could be read
     * before one could not. */
    size_t (*gather)(struct seep_remote *remote, const struct seep_memory_piece *pieces, size_t n);
    /* Calls take() with each run of private pages, as seep_page_states_each(). */
    int (*own_pages)(struct seep_remote *remote, uint64_t start, uint64_t end, bool files_too,
                     seep_page_run_taker *take, void *arg);
    /* Returns 0, -SEEP_EIO or -SEEP_ENOMEM; seep_maps_fini() in either case. */
    int (*read_maps)(struct seep_remote *remote, struct seep_maps *maps);
    pid_t files;         /* the process whose files the maps name */
    bool cut;            /* own_pages() has left pages out: there are too many */
    uint64_t page_bytes; /* of its machine */
};

/* Reads all of [address, address + bytes). False: some of it cannot be read. */
bool seep_remote_read(struct seep_remote *remote, uint64_t address, void *to, size_t bytes);

/* The thread pointer of its first thread; 0: it is not known. */
uint64_t seep_remote_thread_pointer(struct seep_remote *remote);

struct seep_remote_process {
    struct seep_remote remote;
    struct seep_copy_memory memory;
    struct seep_page_states *pages;
};

/* Of a process. Returns 0 or -SEEP_ENOMEM. Allocates; seep_remote_process_fini() in either case. */
SEEP_MUST_CHECK int seep_remote_process_init(struct seep_remote_process *remote, pid_t pid);
void seep_remote_process_fini(struct seep_remote_process *remote);

#endif
