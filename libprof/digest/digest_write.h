/* Writes a digest (docs/digest.schema.json). */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_WRITE_H
#define SEEP_LIBPROF_DIGEST_DIGEST_WRITE_H

#include "libprof/digest/digest.h"

#include <jansson.h>

/* As JSON, in the one order that a digest has: written compactly (JSON_COMPACT), equal digests are
 * equal bytes, at most SEEP_DIGEST_MAX_BYTES of them. Returns a new reference; NULL without memory.
 */
json_t *seep_digest_json(const struct seep_digest *d);

#endif
