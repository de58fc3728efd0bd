/* Findings on what is resident and grows while no line's blocks do: the kernel ends a job by that.
 */
#ifndef SEEP_LIBPROF_JUDGE_RESIDENT_REST_H
#define SEEP_LIBPROF_JUDGE_RESIDENT_REST_H

#include "libprof/code/code.h"
#include "libprof/patterns/finding.h"

/* Adds a finding if the other findings account for less than half of what RSS grows by, with the
 * part of RSS that gained most. Not on what is unexplained (resident_findings.h), nor on live
 * blocks, which other rules judge. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_resident_rest_judge(const struct seep_code *code,
                                             struct seep_findings *out);

#endif
