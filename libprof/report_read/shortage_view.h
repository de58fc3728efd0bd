/* Who had the memory that was missing at an out-of-memory, from a report. */
#ifndef SEEP_LIBPROF_REPORT_READ_SHORTAGE_VIEW_H
#define SEEP_LIBPROF_REPORT_READ_SHORTAGE_VIEW_H

#include <jansson.h>

/* Line `i` of a finding, largest first; NULL after the last, and if the finding has none. It
 * belongs to the finding. */
const json_t *seep_get_shortage_line(const json_t *finding, size_t i);

/* How much such a line had: "5.2 GiB kept from before, at most 1.0 GiB more made in the step".
 * Allocates the result (free() it); NULL without memory. */
char *seep_get_shortage_words(const json_t *line);

#endif
