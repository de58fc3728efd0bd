/* out-of-memory: a request that a device or the host had no room for, explained by the profile and
 * the other findings. */
#ifndef SEEP_LIBPROF_JUDGE_SHORTAGE_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_SHORTAGE_FINDINGS_H

#include "libprof/code/code.h"
#include "libprof/measure/shortage.h"
#include "libprof/patterns/finding.h"

/* Adds a finding for each device that had no room, and for the host, after the last one of a leak
 * or of what is kept for good. All others must be there, in order: these refer to them by number.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_shortages_judge(const struct seep_code *code, struct seep_findings *out);

#endif
