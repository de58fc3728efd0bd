/* How each process of a job ended, what it took at most, and whether it was gone before the job was
 * over. */
#ifndef SEEP_LIBPROF_MODEL_PROCESS_ENDS_H
#define SEEP_LIBPROF_MODEL_PROCESS_ENDS_H

#include "libprof/model/model.h"

/* Exit kinds and values, peaks of RSS and PSS, `gone` and end_step of every process; needs a
 * settled axis. `may_open` allows looking into /proc for whether a process still runs. Returns 0 or
 * -SEEP_ENOMEM.
 *
 * Gone is a process that ended before m->main did, or clearly before the job, or when another one
 * had yet to begin, or whose program was replaced: what it held has been given back. The teardown
 * at the job's end makes nobody gone. Of one that was killed only the last sign of life is known;
 * it counts as alive until something tells otherwise. */
SEEP_MUST_CHECK int seep_process_ends_compute(struct seep_model *m, bool may_open);

/* Exit kind and value from a status of wait(2). */
static inline bool seep_status_is_known(const struct seep_process *entry)
{
    return entry->has_status && entry->wait_status != SEEP_STATUS_UNSEEN;
}

void seep_process_set_exit(struct seep_model_process *p, int status);

#endif
