/* What a frozen copy of the process does with itself, a file each: before anything else it lets go
 * of what the job would meet, and then it has lists of what is live ready for its reader. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_PARTS_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_PARTS_H

#include "libprof/format/snapshot_format.h"

#include <stdbool.h>

/* Lets go of what is mapped and shared, or of a file that is no program or library; of the working
 * directory, the session and the process group, and of the command line by which programs are
 * found. To be called in the copy, which has no other thread. False: a map stays,
 * or what is mapped cannot be told, as without /proc or where no descriptor may be opened. */
bool seep_snapshot_shed(void);

/* Fills in *s but for its steps and its thread. In the copy no other thread changes anything; in a
 * process that goes on, what others change just then may be missing, or be there as it was. Returns
 * 0, or why not: SEEP_REFUSED_NO_ROOM, SEEP_REFUSED_TOO_MANY. Memory comes by pages and stays. */
int seep_snapshot_fill(struct seep_snapshot *s);

/* Gives back what was filled in. */
void seep_snapshot_forget(struct seep_snapshot *s);

/* In a copy, before: threads that held locks are not there. */
void seep_snapshot_unlock_all(void);

#endif
