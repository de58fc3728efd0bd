/* Who holds what: reads one frozen copy of a process of the job and makes DIR/holders-PID-STEP.json
 * of it. To be called in a process of its own, beside the job: a copy is untrusted, and reading it
 * takes time and memory. */
#ifndef SEEP_LIBPROF_WHO_FIND_EXAMINE_H
#define SEEP_LIBPROF_WHO_FIND_EXAMINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "libprof/base/error.h"
#include "libprof/who/blocks/block_list.h"
#include "libprof/who/find/dump.h"
#include "libprof/who/graph/graph.h"

struct seep_examine_request {
    const char *folder;     /* of the job's profiles */
    bool keys;              /* texts of dict keys may be shown: they are the job's data */
    const char *roles_file; /* NULL: the shipped rules */
    pid_t copy;
    int memory;         /* its /proc/PID/mem, opened; closed by the callee. −1: to be opened */
    bool in_place;      /* the process itself waits, there is no copy */
    bool passes_by;     /* its memory is not kept, but surveyed as it passes by: this takes
                         * two to three times as long. So is a copy's whose reader has a bound */
    uint64_t snapshot;  /* address of its struct seep_snapshot */
    uint32_t pid;       /* of the process that it is a copy of, */
    uint64_t start_ns;  /* which began then, */
    uint32_t process;   /* and has this place in the job's table */
    const char *source; /* "optimizer", "told", "time", "request", "end" */
    uint64_t max_bytes; /* the most to copy of its memory; 0: the usual limit */
    /* Called when it is known what the reading takes at most, before that is taken; again if it is
     * more than was known. `most_bytes`: what the process's own bound leaves for it, 0: there is
     * none. False: it is given up, with -SEEP_ENOMEM. NULL: never. */
    bool (*admits)(void *arg, uint64_t need_bytes, uint64_t most_bytes);
    /* Called once, when the copy is no longer needed, before anything is evaluated. `whole`: all
     * was read. Returns false if nobody wants the document any more, and then there is none. NULL:
     * always true. */
    bool (*release)(void *arg, bool whole);
    uint64_t (*held_up_ns)(void *arg); /* called last: how long the process was stopped. NULL: it was not */
    void *arg;
};

/* What is known of a copy, besides the document. */
struct seep_examine_found {
    uint32_t step;
    bool barred; /* the kernel does not allow its memory to be read */
};

/* Reads the copy, or the process that waits, lets go of it, and makes the document,
 * version 1, from what it has read. Returns 0 (*out NULL: nobody wants it any more); -SEEP_EIO: its
 * memory may not be read, or is not a copy's; -SEEP_EFORMAT: what it says is wrong; -SEEP_ENOMEM;
 * or the error of the profile or the rules. */
SEEP_MUST_CHECK int seep_examine(const struct seep_examine_request *request,
                                 struct seep_examine_found *found, json_t **out,
                                 struct seep_error *err);

/* What it takes to find who holds the memory of a process: the one place that knows it. */

/* Bytes that the reader of a process has at most: for `n_nodes` blocks, and objects that have a
 * node (who/graph/cells.h), and what it keeps: pages of the process, and its profile. */
uint64_t seep_reading_need(uint64_t n_nodes, uint64_t kept_bytes);

/* Where only some of the small blocks were recorded: the others, which are no line's, but may hold
 * what is. They are chunks of glibc's heaps, whose sizes lead from one to the next. */

/* Lists all chunks of a process, recorded or not, by address. Returns 0, -SEEP_EIO or -SEEP_ENOMEM.
 * Allocates; seep_block_list_fini() in either case. */
SEEP_MUST_CHECK int seep_unrecorded_find(struct seep_block_list *chunks,
                                         struct seep_remote *remote);

/* Adds to a graph that has all recorded blocks so far, and nothing else, what is live of the
 * chunks. Sets *whole: they are all that there is, judged by the blocks that stand for others,
 * which must be among them. They are not if malloc is another one, or if the process went on
 * meanwhile. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_unrecorded_add(struct seep_block_list *chunks, struct seep_dump *dump,
                                        struct seep_heap *heap, bool *whole);

#endif
