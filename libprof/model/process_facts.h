/* What each process was in the job, how it ended, and what it held when. */
#ifndef SEEP_LIBPROF_MODEL_PROCESS_FACTS_H
#define SEEP_LIBPROF_MODEL_PROCESS_FACTS_H

#include "libprof/model/model.h"

/* Roles, exits, ends, RSS; needs the marks of workers' loops. `may_open` allows opening files into
 * /proc for whether a process still runs. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_process_facts_compute(struct seep_model *m, bool may_open);

/* Live bytes of a job space in one process at a time: its latest row, its last state as
 * it ended, 0 before its start and after it was gone. */
uint64_t seep_process_live_at(const struct seep_model_process *p, uint16_t space, uint64_t t_ns);
uint64_t seep_process_rss_at(const struct seep_model_process *p, uint64_t t_ns);

/* What a process used of a device at a time, by the last look before; 0 after it was gone. False:
 * nobody had looked yet. */
bool seep_process_used_at(const struct seep_model_process *p, unsigned device, uint64_t t_ns,
                          uint64_t *bytes);

/* "trainer", "loader-worker", "rank", "helper". */
const char *seep_process_role_name(enum seep_process_role role);

/* Marks the stacks that pass through such a loop, is_loop[] by frame of the dictionary, and the
 * processes whose first thread has such: a thread that prefetches makes no worker of its process.
 */
void seep_worker_loops_mark(struct seep_model *m, const bool *is_loop);

#endif
