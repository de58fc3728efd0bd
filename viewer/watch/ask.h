/* Asks the processes of a job that runs for copies of themselves, now, so that its report says who
 * holds what they have by now. Nothing is sent to them: they find the wish in the job's table where
 * they look for other things, so no system call of theirs is interrupted. */
#ifndef SEEP_VIEWER_WATCH_ASK_H
#define SEEP_VIEWER_WATCH_ASK_H

#include "libprof/base/error.h"

#include <stddef.h>

struct seep_asked {
    size_t n_asked;    /* processes of the job that live and are recorded */
    size_t n_answered; /* whose copy has been made, or could not be, and is read */
};

/* Asks all processes of the job in folder `dir`, one after the other, and waits for what `seep run`
 * reads of them: for each so long as it may take until the process allocates something, and for all
 * some minutes at most. Returns 0, or -SEEP_EIO, -SEEP_EFORMAT, … with *err: there is no job, it
 * has ended, or nobody would read a copy. */
SEEP_MUST_CHECK int seep_ask_holders(const char *dir, struct seep_asked *asked,
                                     struct seep_error *err);

#endif
