/* Merges digests. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_MERGE_H
#define SEEP_LIBPROF_DIGEST_DIGEST_MERGE_H

#include "libprof/digest/digest.h"

/* Adds what `more` has to `d`. Associative and commutative: what is written afterwards is the same,
 * byte for byte, in whatever order digests were merged. Returns 0 or -SEEP_ENOMEM, and then `d` is
 * of no use. */
SEEP_MUST_CHECK int seep_digest_merge(struct seep_digest *d, const struct seep_digest *more);

/* How many recorded folders are in both, so far as these are told apart: merged, they count
 * twice. */
size_t seep_digest_shared(const struct seep_digest *a, const struct seep_digest *b);

#endif
