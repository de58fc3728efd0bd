/* Which of a line's sites allocate what a library keeps in its own cache. */
#ifndef SEEP_LIBPROF_VERDICT_LIBRARY_SITES_H
#define SEEP_LIBPROF_VERDICT_LIBRARY_SITES_H

#include "libprof/verdict/case.h"

/* Moves those to the front of sites[0, c->n_sites), which are the case's, in order; if there are
 * several caches, those of the cache whose site gained most. *n: how many, 0 if *cache is NULL.
 * Looks only at the sites that gained most since step 1, by the case's signs: looking up names is
 * expensive. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_library_sites_first(const struct seep_case *c, uint32_t *sites, size_t *n,
                                             const struct seep_library_cache **cache);

/* Whether what a library's static data was seen to hold was also made in that library: paths
 * through native memory alone may mislead. False if no such path was seen. */
bool seep_library_keeps_its_own(const struct seep_case *c, const struct seep_signs *signs);

/* Whether the native code of a Python package makes most of what is gained. */
bool seep_library_makes_it(const struct seep_case *c, const struct seep_signs *signs);

/* The cache that snapshots saw keep what a library made; NULL: none, or more than it ever holds. */
const struct seep_library_cache *seep_library_holder(const struct seep_case *c,
                                                     const struct seep_signs *signs);

#endif
