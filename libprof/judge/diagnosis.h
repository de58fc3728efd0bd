/* The judge: which lines keep memory, in which pattern, and what to do about it. */
#ifndef SEEP_LIBPROF_JUDGE_DIAGNOSIS_H
#define SEEP_LIBPROF_JUDGE_DIAGNOSIS_H

#include "libprof/code/code.h"
#include "libprof/patterns/finding.h"
#include "libprof/who/merge/line_holders.h"

/* Judges every line of the model that keeps enough. `holders` may be all zero. Returns 0 or
 * -SEEP_ENOMEM.
 * Allocates: *out; free with seep_findings_fini(), also after an error. */
SEEP_MUST_CHECK int seep_diagnose(const struct seep_code *code,
                                  const struct seep_line_holders *holders,
                                  struct seep_findings *out);

#endif
