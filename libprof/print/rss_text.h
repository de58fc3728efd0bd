/* This file says what resident memory was made of, from the `rss` of a report or of a process. */
#ifndef SEEP_LIBPROF_PRINT_RSS_TEXT_H
#define SEEP_LIBPROF_PRINT_RSS_TEXT_H

#include <jansson.h>
#include <stdbool.h>

/* "1.0 GiB at its peak: 700.0 MiB heap, …; 12.0 MiB (1 %) not explained, which grows by …".
 * `unit`: what growth is told by. Allocates the result (free() it); NULL without memory. */
char *seep_rss_text(const json_t *rss, const char *unit);

/* Whether much of it is not explained, or what is not grows. */
bool seep_rss_is_notable(const json_t *rss);

#endif
