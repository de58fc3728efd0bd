/* What a frozen copy lets go of before anything else, so that the job does not meet it. */
#ifndef SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_SHED_H
#define SEEP_PRELOAD_SNAPSHOT_SNAPSHOT_SHED_H

#include <stdbool.h>

/* Lets go of what is mapped and shared, or of a file that is no program or library; of the working
 * directory, the session and the process group, and of the command line by which programs are
 * found. To be called in the copy, which has no other thread. False: a map stays,
 * or what is mapped cannot be told, as without /proc or where no descriptor may be opened. */
bool seep_snapshot_shed(void);

#endif
