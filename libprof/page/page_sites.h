/* The sites of a page, as columns, and what all too small ones add up to. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_SITES_H
#define SEEP_LIBPROF_PAGE_PAGE_SITES_H

#include "libprof/page/page_tables.h"

#define SEEP_PAGE_LIGHT 1e-4 /* of a space: less is not to be seen in a picture of it */

/* A column for each number of a site; `space`, `role` and `stack` are numbers in the tables,
 * `look_at` that of a frame, `processes` that of a text, `series` [step, bytes, …] as differences,
 * each from the one before. A site is light where neither its peak nor all it allocated is a
 * ten-thousandth of its space's: it is left out where findings do not name it, unless `all`, and
 * has few points. A new reference; NULL without memory. */
json_t *seep_page_sites(const json_t *report, bool all, struct seep_page_tables *tables);

/* {space: {sites, allocations, …}} of those that were left out, as sums. */
json_t *seep_page_other_sites(const json_t *report, bool all);

#endif
