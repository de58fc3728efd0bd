/* A process and those that it started, out of a job's processes. */
#ifndef SEEP_LIBPROF_MODEL_STAGES_PROCESS_TREE_H
#define SEEP_LIBPROF_MODEL_STAGES_PROCESS_TREE_H

#include "libprof/model/model.h"

/* Drops from an opened model all processes but those with this pid, those that they started, and
 * those so on; and, as their stacks lie in its profile, whom one of these was forked from. Returns
 * 0; -SEEP_ENODATA if none has this pid; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_process_tree_keep(struct seep_model *m, uint32_t pid);

/* Drops those processes without a profile that are outside of the tree of `pid`; needs
 * m->unprofiled. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_process_tree_keep_bares(struct seep_model *m, uint32_t pid);

#endif
