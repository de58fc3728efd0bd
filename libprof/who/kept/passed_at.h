/* The lines that pass on what a finding's line made, where native code took a reference and never
 * gave it back: one of these calls may have. They are read from the sources, if these are what
 * ran. */
#ifndef SEEP_LIBPROF_WHO_KEPT_PASSED_AT_H
#define SEEP_LIBPROF_WHO_KEPT_PASSED_AT_H

#include "libprof/who/kept/job_sources.h"

#include <jansson.h>

/* The schema's passed_at, for an answer as in kept_at.h, and the stack of one of the sites: a new
 * reference, JSON's null if not known; NULL without memory. */
json_t *seep_passed_at_json(struct seep_job_sources *job, const json_t *answer, uint32_t stack);

#endif
