/* What holds the memory tells two findings apart, or shows that they are one matter, where lines do
 * not: a fix often moves the line. */
#ifndef SEEP_LIBPROF_GATE_FIX_HOLDERS_H
#define SEEP_LIBPROF_GATE_FIX_HOLDERS_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Makes one pair of two, as seep_compare_findings() gives them, where one has only a before and the
 * other only an after, of one space, that the same container holds. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_fix_join_by_holder(json_t *pairs);

/* Whether the container that grew before is the one that holds it after, and neither that nor the
 * memory grows any more. Pure. */
bool seep_fix_holder_stopped(const json_t *before, const json_t *after);

#endif
