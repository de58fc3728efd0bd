/* Brings the counters of all processes together, by the identity of their stacks. */
#ifndef SEEP_LIBPROF_MODEL_MERGE_H
#define SEEP_LIBPROF_MODEL_MERGE_H

#include "libprof/model/model.h"

/* Loads each profile of the model in turn, interns what its sites refer to, and adds the sites up:
 * m->dict, sites, parts, extras, points, and of each process its spaces' totals and its timeline.
 * A profile that cannot be loaded is noted in m->not_read. Each is closed when no later process
 * inherits from it.
 * Returns 0 or -SEEP_ENOMEM. Work: linear in the sizes of the files. */
SEEP_MUST_CHECK int seep_merge(struct seep_model *m, struct seep_error *err);

#endif
