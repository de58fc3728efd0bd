/* How each process of a job ended, its peaks, and whether it was gone before the job was over. */
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

/* Why it was killed: sets `terminated` if by SIGTERM, and the process of the job that started it
 * outlived it; `out_of_memory` if by SIGKILL, and the kernel sent all of these. `end_ns`: when, on
 * the job's clock; 0: unknown. `job` may be NULL. */
void seep_process_end_blame(const struct seep_model *m, const struct seep_job *job, uint32_t ppid,
                            uint64_t end_ns, struct seep_process_end *end);

/* How many processes of a job the kernel killed for lack of memory: at most as many as SIGKILL
 * ended, as the cgroup may contain others. *all: the kernel sent every SIGKILL. */
uint32_t seep_job_oom_kills(const struct seep_job *job, bool *all);

#endif
