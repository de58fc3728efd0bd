/* Who had the memory that an out-of-memory lacked, as a report says it. */
#ifndef SEEP_LIBPROF_REPORT_READ_SHORTAGE_VIEW_H
#define SEEP_LIBPROF_REPORT_READ_SHORTAGE_VIEW_H

#include <jansson.h>

/* Line `i` of a finding's, the most first; NULL after the last, and where the finding has none. It
 * belongs to the finding. */
const json_t *seep_get_shortage_line(const json_t *finding, size_t i);

/* What such a line had: "5.2 GiB kept from before, at most 1.0 GiB more made in the step".
 * Allocates the result (free() it); NULL without memory. */
char *seep_get_shortage_words(const json_t *line);

#endif
