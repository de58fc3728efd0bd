/* Processes without a profile: what the job's table says of them. */
#ifndef SEEP_LIBPROF_MODEL_UNPROFILED_PROCESSES_H
#define SEEP_LIBPROF_MODEL_UNPROFILED_PROCESSES_H

#include "libprof/model/model.h"

/* Fills m->unprofiled. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_unprofiled_find(struct seep_model *m);

/* Adds what was only counted, of single processes and of those folded into one row, to the job's
 * spaces. What ended processes held counts as freed; of their peaks the largest counts, since
 * nobody knows which were alive at once. */
void seep_unprofiled_add_spaces(struct seep_model *m);

/* A space's count as totals; `gone`: what was live has been freed. */
struct seep_totals seep_count_totals(const struct seep_count *count, bool gone);

/* Without a profile by choice: nothing is missing. */
static inline bool seep_unprofiled_was_counted(const struct seep_process *entry)
{
    return seep_unprofiled_is_counted(entry) && !entry->trouble;
}

/* Whether its process has ended, as far as its parent, `seep run` or the job's end tells. */
bool seep_unprofiled_has_ended(const struct seep_unprofiled_process *bare);

/* Sets *entry to the first process of a job that was only counted: it stands for the job if no
 * process has a profile. False if there is none. */
bool seep_unprofiled_first(const struct seep_job *job, uint32_t *entry);

#endif
