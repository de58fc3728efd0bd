/* Who holds what: what is read of one frozen copy of a process of the job, in the form of
 * DIR/holders-PID-STEP.json. To be called in a process of its own, beside the job: a copy is
 * untrusted, and to read it takes time and memory. */
#ifndef SEEP_LIBPROF_WHO_FIND_EXAMINE_H
#define SEEP_LIBPROF_WHO_FIND_EXAMINE_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct seep_examine_request {
    const char *folder;     /* of the job's profiles */
    bool keys;              /* texts of dict keys may be shown: they are the job's data */
    const char *roles_file; /* NULL: the shipped rules */
    pid_t copy;
    uint64_t snapshot;  /* address of its struct seep_snapshot */
    uint32_t pid;       /* of the process that it is a copy of, */
    uint64_t start_ns;  /* which began then, */
    uint32_t process;   /* and has this place in the job's table */
    const char *source; /* "optimizer", "told", "time", "request", "end" */
    uint64_t stop_ns;   /* may be set as late as by release() */
    uint64_t max_bytes; /* that may be taken of its memory, 0: as many as ever */
    /* Called once, when the copy is no longer needed: before anything is thought about. `whole`:
     * all was read. False: nobody wants to know any more, and there will be no document. NULL:
     * true. */
    bool (*release)(void *arg, bool whole);
    void *arg;
};

/* What is known of a copy beside the document. */
struct seep_examine_found {
    uint32_t step;
    bool barred; /* the kernel does not let its memory be read */
};

/* Reads the copy at once, lets go of it, and makes the document of version 1 of what it has read.
 * Returns 0 (*out NULL: it was not wanted any more); -SEEP_EIO: its memory may not be read, or is
 * no copy's; -SEEP_EFORMAT: what it says is wrong; -SEEP_ENOMEM; what the profile or the rules are
 * refused for. */
SEEP_MUST_CHECK int seep_examine(const struct seep_examine_request *request,
                                 struct seep_examine_found *found, json_t **out,
                                 struct seep_error *err);

#endif
