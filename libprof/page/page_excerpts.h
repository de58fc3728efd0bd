/* The lines around those that findings are about, from the job's sources. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_EXCERPTS_H
#define SEEP_LIBPROF_PAGE_PAGE_EXCERPTS_H

#include <jansson.h>

enum { SEEP_EXCERPT_AROUND = 3, SEEP_EXCERPT_MAX_FILE_BYTES = 4 << 20 };

/* [{file, line, first, lines: [text, …]}] for the frames and `kept_at` of a report's findings, each
 * line once: only of regular files that are named as sources are, and were last changed before the
 * job began, so that they are what ran. Texts are clean and cut. Opens files that the report names,
 * never waits for them. A new reference; NULL without memory. */
json_t *seep_page_excerpts(const json_t *report);

#endif
