/* What ran inside the loop of a loader's worker. */
#ifndef SEEP_LIBPROF_MODEL_WORKER_LOOPS_H
#define SEEP_LIBPROF_MODEL_WORKER_LOOPS_H

#include "libprof/model/model.h"

/* Marks the stacks that pass through such a loop, is_loop[] by frame of the dictionary, and the
 * processes whose first thread has such: a thread that prefetches makes no worker of its process.
 */
void seep_worker_loops_mark(struct seep_model *m, const bool *is_loop);

#endif
