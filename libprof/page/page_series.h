/* How much was live over the steps, as a page has it. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_SERIES_H
#define SEEP_LIBPROF_PAGE_PAGE_SERIES_H

#include <jansson.h>

/* [step, bytes, …] of sites together, each as the difference from the one before, for differences
 * of what lies in order are short numbers. Of more than `most` points as many are kept, evenly
 * spread, the last among them. A new reference; NULL without memory. */
json_t *seep_page_series(const json_t *const *sites, size_t n, size_t most);

#endif
