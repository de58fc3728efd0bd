/* Which line adds to a growing container: CPython itself reallocates the table of a list, dict or
 * set, at the very statement that adds to it. */
#ifndef SEEP_LIBPROF_SIGNS_CONTAINER_LINES_H
#define SEEP_LIBPROF_SIGNS_CONTAINER_LINES_H

#include "libprof/signs/case.h"

/* The user's line, in one of the case's processes, at which by far the largest table grew until
 * late in the run; *frame is 0 if there is none, or several are alike. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_container_line(const struct seep_case *c, uint32_t *frame);

#endif
