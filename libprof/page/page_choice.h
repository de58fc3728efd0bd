/* Which sites a page has one by one. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_CHOICE_H
#define SEEP_LIBPROF_PAGE_PAGE_CHOICE_H

#include <jansson.h>
#include <stdbool.h>

#define SEEP_PAGE_LIGHT 1e-4 /* of a space: less is not to be seen in a picture of it */

/* Whether neither the peak of a site nor all that it allocated is that much of its space's. */
bool seep_page_is_light(const json_t *report, const json_t *site);

/* The sites of the report that are in the page one by one, or those that are in it as sums: light
 * ones that allocate seldom and that no finding names, and none where `all` is wanted. A new
 * reference; NULL without memory. */
json_t *seep_page_sites_in(const json_t *report, bool all);
json_t *seep_page_small_ones(const json_t *report, bool all);

#endif
