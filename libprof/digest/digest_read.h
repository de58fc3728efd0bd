/* Reads a digest back. What is read is hostile until it is checked: numbers out of range, unknown
 * names and references to nothing are errors, texts are cleaned and cut. */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_READ_H
#define SEEP_LIBPROF_DIGEST_DIGEST_READ_H

#include "libprof/digest/digest.h"

/* `name` is for errors. *d need not be initialised; seep_digest_fini() it only after success.
 * Returns 0; -SEEP_EFORMAT if it is no digest, or cut or damaged; -SEEP_EVERSION; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_digest_from_bytes(struct seep_digest *d, const char *bytes, size_t n,
                                           const char *name, struct seep_error *err);

/* The same of a file; also -SEEP_EIO. */
SEEP_MUST_CHECK int seep_digest_read(struct seep_digest *d, const char *path,
                                     struct seep_error *err);

/* Whether a file begins like a digest. */
bool seep_digest_is_at(const char *path);

#endif
