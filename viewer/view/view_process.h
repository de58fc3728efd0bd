/* `seep view PID`: the folder of a job that the process belongs to, or a look at it. */
#ifndef SEEP_VIEWER_VIEW_VIEW_PROCESS_H
#define SEEP_VIEWER_VIEW_VIEW_PROCESS_H

#include <limits.h>
#include <stdbool.h>

/* Whether a word is the number of a process, and no file or folder. */
bool seep_view_is_process(const char *word);

/* What to show of it: the folder of its job, or a look, in a file that is to be removed
 * (`is_look`). Returns 0, or SEEP_EXIT_UNUSABLE after a complaint. */
int seep_view_process(const char *pid, char path[PATH_MAX], bool *is_look);

#endif
