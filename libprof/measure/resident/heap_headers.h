/* What malloc's chunks take beyond the bytes that were asked for (libprof/model/live_level.h). */
#ifndef SEEP_LIBPROF_MEASURE_RESIDENT_HEAP_HEADERS_H
#define SEEP_LIBPROF_MEASURE_RESIDENT_HEAP_HEADERS_H

#include "libprof/model/model.h"

/* Samples take what is in malloc's maps beyond the recorded blocks for free memory. Moves what
 * chunks take beyond their blocks, by the mean size of each site, to what is live. Not where
 * another malloc is in use. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_heap_headers_add(struct seep_model *m);

#endif
