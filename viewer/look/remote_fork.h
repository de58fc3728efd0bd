/* A frozen copy of a process that stands still: it is made to fork, and its registers are as
 * before. The copy is nobody's child that the process could meet: its parent, a go-between, ends
 * at once and is waited for in the process's name, so that init has the copy. */
#ifndef SEEP_VIEWER_LOOK_REMOTE_FORK_H
#define SEEP_VIEWER_LOOK_REMOTE_FORK_H

#include "libprof/who/find/dump.h"
#include "viewer/look/stop.h"

/* Whether a process may be made to fork: NULL, or why it is better not ("it uses the CUDA driver").
 */
const char *seep_remote_fork_why_not(pid_t pid);

/* Makes a copy of a process whose threads are stopped, and leaves them so. The copy is traced, has
 * no file open and nothing mapped that others share, ends with who made it, and before the process
 * if the kernel has to end one for lack of memory. Returns 0 or -SEEP_EIO: it could not be made. */
SEEP_MUST_CHECK int seep_remote_fork(const struct seep_stopped *stopped, pid_t *copy);

/* Lets the copy forget what lies between the ranges of what passes by, where that is much: the job
 * writes on to its arrays, and their old pages would be the copy's alone. False: it was ended. */
SEEP_MUST_CHECK bool seep_remote_fork_keep(pid_t copy, const struct seep_dump *dump);

/* Ends the copy. False: somebody else had already, so that what was read of it is worth nothing. */
bool seep_remote_fork_end(pid_t copy);

#endif
