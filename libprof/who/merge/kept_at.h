/* The lines that keep what a finding's line made: where the user's own code puts it into what holds
 * it. They are read from the sources, as long as these are what ran; what is not clear is not said.
 */
#ifndef SEEP_LIBPROF_WHO_MERGE_KEPT_AT_H
#define SEEP_LIBPROF_WHO_MERGE_KEPT_AT_H

#include "libprof/who/merge/job_sources.h"

#include <jansson.h>

enum { SEEP_KEPT_MAX_LINES = 3 };

/* What the schema calls kept_at, of an answer as seep_line_holders_of() gives it, and of the sites
 * whose memory that is: a new reference, JSON's null where it is not known; NULL without memory. */
json_t *seep_kept_at_json(struct seep_job_sources *job, const json_t *answer, const uint32_t *sites,
                          size_t n_sites);

#endif
