/* What the job's spaces add up to, and the processes that were only counted. */
#ifndef SEEP_LIBPROF_MODEL_JOB_SPACES_H
#define SEEP_LIBPROF_MODEL_JOB_SPACES_H

#include "libprof/model/model.h"

/* Totals of the job's spaces. Live is what the processes that lived to the end held then (or hold
 * now); what the others held when they ended counts as freed with them. A peak of the sum is exact
 * with one process; with several it is the largest sum over the points in time that the timelines
 * hold and over the ends of steps, and each process's own peak. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_job_spaces_add(struct seep_model *m);

#endif
