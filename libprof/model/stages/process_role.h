/* Decides a process's role in the job: trainer, rank, loader-worker or helper. */
#ifndef SEEP_LIBPROF_MODEL_STAGES_PROCESS_ROLE_H
#define SEEP_LIBPROF_MODEL_STAGES_PROCESS_ROLE_H

#include "libprof/model/model.h"

/* Marks the stacks that pass through the loop of a loader's worker (is_loop[] by frame of the
 * dictionary), and the processes whose first thread has such stacks: a prefetching thread does not
 * make its process a worker. */
void seep_worker_loops_mark(struct seep_model *m, const bool *is_loop);

/* Sets the role of each process, by these marks and by what it did: whether it made steps, beside
 * whom, and for whom (seep_step_serves()). */
void seep_process_roles_find(struct seep_model *m);

#endif
