/* Goes through the live set: every block that is in it. For who makes a list of all, in a process
 * that has no other thread (a copy of the job): nothing is locked. What was being changed as the
 * copy was made may be missing, or be there with the size that it had before. Runtime part.
 * Allocates: nothing. */
#ifndef SEEP_LIBPROF_RECORD_LIVE_WALK_H
#define SEEP_LIBPROF_RECORD_LIVE_WALK_H

#include "libprof/record/live_blocks.h"

void seep_live_each(seep_live_visitor *visit, void *arg);

#endif
