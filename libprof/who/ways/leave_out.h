/* What is still reached without a node: only what was reached through it is searched anew, from
 * what else refers there. */
#ifndef SEEP_LIBPROF_WHO_WAYS_LEAVE_OUT_H
#define SEEP_LIBPROF_WHO_WAYS_LEAVE_OUT_H

#include "libprof/who/ways/reach.h"

/* Both change a reach that has run, and may follow one another; returns 0 or -SEEP_ENOMEM. `node`
 * is noted in reach->excluded[] by the caller. */
SEEP_MUST_CHECK int seep_reach_leave_out(struct seep_reach *reach, uint32_t node);

/* Leaves out the roots whose words are often stale. */
SEEP_MUST_CHECK int seep_reach_leave_doubtful(struct seep_reach *reach);

#endif
