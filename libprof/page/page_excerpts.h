/* The lines around those that findings are about, from the job's sources. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_EXCERPTS_H
#define SEEP_LIBPROF_PAGE_PAGE_EXCERPTS_H

#include <jansson.h>

enum { SEEP_EXCERPT_AROUND = 3 };

/* [{file, line, first, lines: [text, …]}] for the frames and `kept_at` of a report's findings, each
 * line once, where page_source.h opens their files. A new reference; NULL without memory. */
json_t *seep_page_excerpts(const json_t *report);

#endif
