/* What a frozen copy of the process has ready for its reader: lists of what is live, in pages of
 * its own. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_ARRAYS_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_ARRAYS_H

#include "libprof/format/snapshot_format.h"

/* Fills in *s but for its steps and its thread. In the copy no other thread changes anything; in a
 * process that goes on, what others change just then may be missing, or be there as it was. Returns
 * 0, or why not: SEEP_REFUSED_NO_ROOM, SEEP_REFUSED_TOO_MANY. Memory comes by pages and stays. */
int seep_snapshot_fill(struct seep_snapshot *s);

/* Gives back what was filled in. */
void seep_snapshot_forget(struct seep_snapshot *s);

/* In a copy, before: threads that held locks are not there. */
void seep_snapshot_unlock_all(void);

#endif
