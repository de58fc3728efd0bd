/* A fix often moves the line. Then what holds the memory shows whether two findings are the
 * same. */
#ifndef SEEP_LIBPROF_GATE_FIX_HOLDERS_H
#define SEEP_LIBPROF_GATE_FIX_HOLDERS_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Joins pairs of seep_compare_findings() of which one has only a before and the other only an
 * after, if both are of one space and held by the same container. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_fix_join_by_holder(json_t *pairs);

/* Whether the same container holds it before and after, and grew before, but now neither the
 * container nor the memory grows. Pure. */
bool seep_fix_holder_stopped(const json_t *before, const json_t *after);

#endif
