/* What a frozen copy of the process has ready for its reader: lists of what is live, in pages of
 * its own. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_ARRAYS_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_ARRAYS_H

#include "libprof/format/snapshot_format.h"

/* Fills in *s but for its steps and its thread. To be called in the copy, which has no other thread
 * and whose locks were taken by nobody that is there. Returns 0, or why not: SEEP_REFUSED_NO_ROOM,
 * SEEP_REFUSED_TOO_MANY. Memory comes by pages and stays. */
int seep_snapshot_fill(struct seep_snapshot *s);

#endif
