/* Digests as the commands that merge them read and write them. */
#ifndef SEEP_VIEWER_DIGEST_FILES_H
#define SEEP_VIEWER_DIGEST_FILES_H

#include "libprof/digest/digest.h"

/* The digest of a recorded folder, or of a file that holds one. *d need not be initialised;
 * seep_digest_fini() it only after success. Returns 0 or what seep_digest_read() and
 * seep_analyse_digest() return, with *err. */
SEEP_MUST_CHECK int seep_digest_of_file(struct seep_digest *d, const char *name, const char *roles,
                                        struct seep_error *err);

/* Merges `one`, called `name`, into `all`, unless some of what it sums up is in it already, which
 * is told, and counted if that is not all of it. Returns how many were added, or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_digest_add_once(struct seep_digest *all, const struct seep_digest *one,
                                         const char *name);

/* The same of a file or folder; one that cannot be read is told and counted. */
SEEP_MUST_CHECK int seep_digest_add_file(struct seep_digest *all, const char *name,
                                         const char *roles);

/* Writes it to the file `out`; NULL: to standard output. Returns an exit status, after a complaint
 * if it is not 0. */
int seep_digest_output(const struct seep_digest *d, const char *out);

#endif
