/* Keeps a digest within its size.
 *
 * What is small is forgotten: rows of sites whose bucket is below site_level are added to the rest
 * of their role and space, rows of findings below finding_level (by severity, then by bucket) to
 * the findings folded by pattern. At space_level 1 announced spaces become one, at 2 spaces have no
 * buckets. Nodes are numbered in steps of 2^node_shift, cells of courses are 2^step_shift steps
 * long.
 *
 * A level is the least at which the rest fits. What a digest takes at a level never shrinks as more
 * is merged, and forgetting at a level what another has already forgotten below it is forgetting
 * all of it. So the levels, and with them the digest, are the same in whatever order it was made.
 */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_FIT_H
#define SEEP_LIBPROF_DIGEST_DIGEST_FIT_H

#include "libprof/digest/digest.h"

#define SEEP_DIGEST_ANNOUNCED "(announced)"

enum {
    SEEP_DIGEST_MAX_BYTES = 5 * 1000 * 1000, /* as written; digest_fit.c adds it up */
    SEEP_DIGEST_MAX_SPACES = 64,             /* announced ones */
    SEEP_DIGEST_MAX_CELLS = 2048,
};

/* Raises levels until all fits. Out of memory sets `failed`. */
void seep_digest_fit(struct seep_digest *d);

/* Raises the levels to those of another digest, at least. */
void seep_digest_raise(struct seep_digest *d, const struct seep_digest *other);

/* What becomes of a row at the digest's levels, with ids of this digest. */
struct seep_digest_row seep_digest_level_row(struct seep_digest *d,
                                             const struct seep_digest_row *row);

#endif
