/* The lines that keep what a finding's line allocated: where the user's own code stores it into its
 * holder. They are read from the sources, if these are what ran. Unclear cases are left out. */
#ifndef SEEP_LIBPROF_WHO_KEPT_KEPT_AT_H
#define SEEP_LIBPROF_WHO_KEPT_KEPT_AT_H

#include <jansson.h>

#include "libprof/who/kept/job_sources.h"

enum { SEEP_KEPT_MAX_LINES = 3 };

/* The schema's kept_at, for an answer of seep_line_holders_of() and the sites whose memory it is
 * about: a new reference, JSON's null if not known; NULL without memory. */
json_t *seep_kept_at_json(struct seep_job_sources *job, const json_t *answer, const uint32_t *sites,
                          size_t n_sites);

/* A statement of a file of the job's, as a frame of a report with its text: a new reference, or
 * NULL without memory. */
json_t *seep_kept_line_json(const struct seep_job_sources *job, const struct seep_source_file *in,
                            uint32_t statement);

/* The lines that pass on what a finding's line made, where native code took a reference and never
 * gave it back: one of these calls may have. They are read from the sources, if these are what
 * ran. */

/* The schema's passed_at, for an answer as in kept_at.h, and the stack of one of the sites: a new
 * reference, JSON's null if not known; NULL without memory. */
json_t *seep_passed_at_json(struct seep_job_sources *job, const json_t *answer, uint32_t stack);

#endif
