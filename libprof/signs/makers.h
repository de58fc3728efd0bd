/* What kind of functions made a line's memory: those between the line and the allocation. */
#ifndef SEEP_LIBPROF_SIGNS_MAKERS_H
#define SEEP_LIBPROF_SIGNS_MAKERS_H

#include "libprof/signs/case.h"

/* Of the site of the line's that had most. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_makers_find(const struct seep_case *c, struct seep_makers *makers);

#endif
