/* Who makes something larger of what was there and something new: cat, concatenate, append. */
#ifndef SEEP_LIBPROF_SIGNS_JOINS_H
#define SEEP_LIBPROF_SIGNS_JOINS_H

#include "libprof/signs/case.h"

/* Whether most of the line's memory is made by a function that joins. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_joins_find(const struct seep_case *c, bool *is_joined);

#endif
