/* Makes the digest of a job from its model, its findings and its report. */
#ifndef SEEP_LIBPROF_DIGEST_FILL_DIGEST_FILL_H
#define SEEP_LIBPROF_DIGEST_FILL_DIGEST_FILL_H

#include "libprof/code/code.h"
#include "libprof/digest/digest.h"
#include "libprof/verdict/finding.h"

#include <jansson.h>

/* `report`: of the same, with its sites, from which frames and sentences are taken. *d is
 * initialised and empty. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_digest_fill(struct seep_digest *d, const struct seep_code *code,
                                     const struct seep_findings *findings, const json_t *report);

#endif
