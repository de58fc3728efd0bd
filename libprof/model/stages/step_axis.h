/* The job's clock and its step axis. */
#ifndef SEEP_LIBPROF_MODEL_STAGES_STEP_AXIS_H
#define SEEP_LIBPROF_MODEL_STAGES_STEP_AXIS_H

#include "libprof/model/model.h"

/* Aligns the clocks of several folders, hosts and boots (clock_ns), and sorts the processes by
 * start. */
void seep_axis_sort(struct seep_model *m);

/* Sets whose periods each process uses, main, the runs and their places on the axis, the count of
 * steps and the epochs. Needs sorted processes, at least one. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_step_axis_compute(struct seep_model *m);

/* Whether p works for q: it descends from q, which trains and goes on training after p has begun,
 * whereas p does not train. Call it only once it is known whose periods both use. */
bool seep_step_serves(const struct seep_model_process *p, const struct seep_model_process *q);

#endif
