/* The sites that are too small to be in a page one by one. */
#ifndef SEEP_LIBPROF_PAGE_PAGE_SMALL_H
#define SEEP_LIBPROF_PAGE_PAGE_SMALL_H

#include "libprof/page/page_tables.h"

#define SEEP_PAGE_SMALL_BOX 1e-3 /* of a space: about as much as is a pixel in a picture of it */

/* Columns of their sums: a row for each space and caller below which they come to a box, which has
 * those that no caller further in has a box for. `stack` is that of the caller, −1 for none;
 * `sites` says how many they are. A new reference; NULL without memory. */
json_t *seep_page_small_sites(const json_t *report, const json_t *small,
                              struct seep_page_tables *tables);

#endif
