/* The job's clock and its step axis. */
#ifndef SEEP_LIBPROF_MODEL_STEP_AXIS_H
#define SEEP_LIBPROF_MODEL_STEP_AXIS_H

#include "libprof/model/model.h"

/* Finds each process's entry in its job's table, brings the clocks of several folders, hosts and
 * boots together (clock_ns), and sorts the processes by start. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_axis_sort(struct seep_model *m);

/* Lives, whose periods each process uses, main, the runs and their places on the axis, the count of
 * steps and the epochs. Needs sorted processes, at least one. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_step_axis_compute(struct seep_model *m);

#endif
