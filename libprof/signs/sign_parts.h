/* Signs of a case that have a file of their own. */
#ifndef SEEP_LIBPROF_SIGNS_SIGN_PARTS_H
#define SEEP_LIBPROF_SIGNS_SIGN_PARTS_H

#include "libprof/signs/case.h"

/* What kinds of functions made a line's memory: those between the line and the allocation, for the
 * line's largest site. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_makers_find(const struct seep_case *c, struct seep_makers *makers);

/* Whether the line makes something of what it draws from a stream, which has no pass that ends, and
 * each process keeps nearly all of it while it lives. A buffer that fills gives some away
 * meanwhile; what is only needed to make an item does not count. `sites`: what each of the line's
 * sites holds. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_stream_is_kept(const struct seep_case *c,
                                        const struct seep_site_signs *sites, bool *is_kept);

#endif
