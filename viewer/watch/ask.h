/* Asks the processes of a running job to be copied now, so that its report shows which objects hold
 * memory at this moment. Nothing is sent to them: they find the request in the job's table, where
 * they look anyway, so none of their system calls is interrupted. */
#ifndef SEEP_VIEWER_WATCH_ASK_H
#define SEEP_VIEWER_WATCH_ASK_H

#include "libprof/base/error.h"

#include <stddef.h>

struct seep_asked {
    size_t n_asked;    /* live, recorded processes of the job */
    size_t n_answered; /* those whose copy was made and read, or could not be made */
};

/* Asks all processes of the job in folder `dir`, one after the other, and waits until `seep run`
 * has read each copy: for each process until it next allocates, within a limit, and for all of them
 * some minutes at most. Returns 0, or -SEEP_EIO, -SEEP_EFORMAT, … with *err: there is no job, it
 * has ended, or nothing would read a copy. */
SEEP_MUST_CHECK int seep_ask_holders(const char *dir, struct seep_asked *asked,
                                     struct seep_error *err);

#endif
