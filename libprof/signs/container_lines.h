/* Which line adds to a container that grows: the table of a list, dict or set is made anew, larger,
 * at the very statement that adds to it, by CPython itself. */
#ifndef SEEP_LIBPROF_SIGNS_CONTAINER_LINES_H
#define SEEP_LIBPROF_SIGNS_CONTAINER_LINES_H

#include "libprof/signs/case.h"

/* The line of the user's, in a process that the case is in, at which by far the largest table grew,
 * until late in the run; *frame is 0 where there is none, or several are alike. Returns 0 or
 * -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_container_line(const struct seep_case *c, uint32_t *frame);

#endif
