/* How far a finding's growth is from the limits that the job is under. */
#ifndef SEEP_LIBPROF_JUDGE_LIMIT_EVIDENCE_H
#define SEEP_LIBPROF_JUDGE_LIMIT_EVIDENCE_H

#include "libprof/patterns/finding.h"

/* Sets limit_bytes and steps_to_limit of a finding on host memory, by the limit that its growth
 * reaches first, or on a device, by its capacity, and says in the evidence what is in use. Needs
 * the finding's processes. */
void seep_finding_set_limit(const struct seep_model *m, struct seep_finding *finding);

#endif
