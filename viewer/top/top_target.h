/* Which profile folder a process of a job writes to. */
#ifndef SEEP_VIEWER_TOP_TARGET_H
#define SEEP_VIEWER_TOP_TARGET_H

#include "libprof/base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

/* The folder of the seep files in a list of mappings (proc(5), /proc/PID/maps). Returns whether
 * there is one. */
bool seep_top_folder_of_maps(FILE *maps, char folder[PATH_MAX]);

/* The value of SEEP_OUT in an environment (/proc/PID/environ). Returns whether it is set. */
bool seep_top_out_of(FILE *environment, char out[PATH_MAX]);

/* The folder that `target`, a folder or a process id, means. An existing folder is never taken as a
 * process id. Returns 0; -SEEP_ENODATA where the process belongs to no job, or is gone; -SEEP_EIO
 * where it cannot be read. *err has what and why. */
SEEP_MUST_CHECK int seep_top_find(const char *target, char folder[PATH_MAX],
                                  struct seep_error *err);

#endif
