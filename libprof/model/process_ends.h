/* How each process of a job ended, what it took at most, and whether it was gone before the job was
 * over. */
#ifndef SEEP_LIBPROF_MODEL_PROCESS_ENDS_H
#define SEEP_LIBPROF_MODEL_PROCESS_ENDS_H

#include "libprof/model/model.h"

/* `ended`, peaks of RSS and PSS, `gone` and end_step of every process; needs a
 * settled axis. `may_open` allows looking into /proc for whether a process still runs. Returns 0 or
 * -SEEP_ENOMEM.
 *
 * Gone is a process that ended before m->main did, or clearly before the job, or when another one
 * had yet to begin, or whose program was replaced: what it held has been given back. The teardown
 * at the job's end makes nobody gone. Of one that was killed only the last sign of life is known;
 * it counts as alive until something tells otherwise. */
SEEP_MUST_CHECK int seep_process_ends_compute(struct seep_model *m, bool may_open);

static inline bool seep_status_is_known(const struct seep_process *entry)
{
    return entry->has_status && entry->wait_status != SEEP_STATUS_UNSEEN;
}

/* What a status of wait(2) says. */
struct seep_process_end seep_process_end_of(int status);

/* Whether one that ended so was terminated by the process of the job that had started it: by
 * SIGTERM, which its parent outlived. `end_ns`: when, on the job's clock; 0: not known. */
bool seep_process_was_terminated(const struct seep_model *m, const struct seep_process_end *end,
                                 const struct seep_job *job, uint32_t ppid, uint64_t end_ns);

#endif
