/* What a frozen copy of the process does, a file for each part: first it releases what the job
 * could notice, then it prepares lists of what is live for its reader. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_PARTS_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_COPY_PARTS_H

#include "libprof/format/snapshot_format.h"

#include <stdbool.h>

/* Releases maps that are shared, or of a file that is no program or library; the working directory,
 * the session and the process group; and the command line by which programs are found. Call it in
 * the copy, which has no other thread. False: a map stays, or the maps are unknown, as without
 * /proc or if no descriptor may be opened. */
bool seep_snapshot_shed(void);

/* Fills in *s except its steps and its thread. In the copy no other thread changes anything; in a
 * process that goes on, a concurrent change may be missing or show the old value. Returns 0, or why
 * not: SEEP_REFUSED_NO_ROOM, SEEP_REFUSED_TOO_MANY. Memory comes in pages and stays. */
int seep_snapshot_fill(struct seep_snapshot *s);

/* Gives back pages in which no reader of *s looks for anything: those of malloc's heap in which no
 * block lies, and those of blocks in which no word looks like an address. The process goes on to
 * write to them. Call it in the copy. */
void seep_snapshot_drop(const struct seep_snapshot *s);

/* Gives back what was filled in. */
void seep_snapshot_forget(struct seep_snapshot *s);

/* Call it first in a copy: threads that held locks do not exist there. */
void seep_snapshot_unlock_all(void);

#endif
