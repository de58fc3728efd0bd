/* A digest as a report (docs/report.schema.json), so that all that prints, compares or judges a
 * report takes a digest as well. Of processes it lists the outermost ones only; what many processes
 * show is in its field `digest`. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_REPORT_H
#define SEEP_LIBPROF_DIGEST_DIGEST_REPORT_H

#include "libprof/digest/digest.h"

#include <jansson.h>

/* *report: a new reference. series: sites have their courses. Returns 0; -SEEP_ENODATA if no
 * process is in it; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_digest_report(const struct seep_digest *d, bool series, json_t **report);

#endif
