/* Cycles among what nobody holds: what Python's collector will free when it comes by. */
#ifndef SEEP_LIBPROF_WHO_WAYS_CYCLES_H
#define SEEP_LIBPROF_WHO_WAYS_CYCLES_H

#include "libprof/who/ways/reach.h"

/* Makes the members of cycles that no root reaches roots of their own, of kind SEEP_ROOT_CYCLE, and
 * finds what they hold. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_cycles_find(struct seep_reach *reach);

#endif
