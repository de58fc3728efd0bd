/* Findings of segments, beside those of the tensors that lie in them. */
#ifndef SEEP_LIBPROF_JUDGE_SEGMENT_FINDINGS_H
#define SEEP_LIBPROF_JUDGE_SEGMENT_FINDINGS_H

#include "libprof/code/code.h"
#include "libprof/patterns/finding.h"

/* Drops findings of segments that are kept because tensors are, where there are findings of these,
 * too, which get it as evidence: together, segments grow at most twice as fast as the tensors; or,
 * where they do not grow any more, have grown at most twice as much. Most severe ones are first in
 * *f. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_segments_join(const struct seep_code *code, struct seep_findings *f);

#endif
