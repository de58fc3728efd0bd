/* The sites of a page, as columns. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_SITES_H
#define SEEP_LIBPROF_PAGE_PAGE_SITES_H

#include "libprof/page/page_tables.h"

/* A column for each number of a site of the list; `space`, `role` and `stack` are numbers in the
 * tables, `look_at` that of a frame, `processes` that of a text, `series` as page_series.h has it.
 * A light site has few points. A new reference; NULL without memory. */
json_t *seep_page_sites(const json_t *report, const json_t *list, struct seep_page_tables *tables);

#endif
