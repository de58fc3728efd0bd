/* Where blocks lay on devices, as a page has it: columns of short numbers. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_LAYOUTS_H
#define SEEP_LIBPROF_PAGE_PAGE_LAYOUTS_H

#include <jansson.h>
#include <stdbool.h>

/* The report's layouts with `segments` {address, bytes, site, cache, small, tensors} and `tensors`
 * {gap, bytes, site}, arrays: `tensors` of a segment says how many of them are its; a gap is from
 * the end of the tensor before in the segment, or from its start; sites are numbers of ids, −1 for
 * none. A new reference; NULL without memory. */
json_t *seep_page_layouts(const json_t *report);

/* Adds the ids of all sites that are in layouts to `named`, as keys. */
void seep_page_name_layout_sites(const json_t *report, json_t *named, bool *failed);

#endif
