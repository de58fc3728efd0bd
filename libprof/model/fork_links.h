/* Who was forked from whom: the file of each forked process goes on in that of its parent. */
#ifndef SEEP_LIBPROF_MODEL_FORK_LINKS_H
#define SEEP_LIBPROF_MODEL_FORK_LINKS_H

#include "libprof/model/model.h"

/* Links profiles and processes to their parents; a process whose parent's file is missing, or that
 * descends from such a one, is orphaned. Needs open profiles, sorted by start. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_fork_links_find(struct seep_model *m);

#endif
