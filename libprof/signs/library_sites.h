/* Which of a line's sites make what a library keeps in a cache of its own. */
#ifndef SEEP_LIBPROF_SIGNS_LIBRARY_SITES_H
#define SEEP_LIBPROF_SIGNS_LIBRARY_SITES_H

#include "libprof/signs/case.h"

/* Moves those to the front of sites[0, c->n_sites), which are the case's, in their order; of
 * several caches the one of the site that gained most. *n: how many they are, 0 where *cache is
 * NULL. Asks the sites that gained most since step 1 alone, by the case's signs: names are dear.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_library_sites_first(const struct seep_case *c, uint32_t *sites, size_t *n,
                                             const struct seep_library_cache **cache);

/* Whether what a library's static data was seen to hold was made in that library, too: ways through
 * native memory alone may lead astray. False where no such way was seen. */
bool seep_library_keeps_its_own(const struct seep_case *c, const struct seep_signs *signs);

/* The cache that keeps what a library made, as snapshots saw it; NULL none, or more than it ever
 * holds. */
const struct seep_library_cache *seep_library_holder(const struct seep_case *c,
                                                     const struct seep_signs *signs);

#endif
