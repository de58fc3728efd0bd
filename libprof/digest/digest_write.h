/* Writes a digest (docs/digest.schema.json). */
#ifndef SEEP_LIBPROF_DIGEST_DIGEST_WRITE_H
#define SEEP_LIBPROF_DIGEST_DIGEST_WRITE_H

#include "libprof/digest/digest.h"

#include <jansson.h>

/* As JSON, in the one order that a digest has: written compactly (JSON_COMPACT), equal digests are
 * equal bytes, at most SEEP_DIGEST_MAX_BYTES of them. Returns a new reference; NULL without memory.
 */
json_t *seep_digest_json(const struct seep_digest *d);

/* A process by name with its value, and the texts of a set. New references; NULL without memory. */
json_t *seep_digest_who_json(const struct seep_digest *d, const struct seep_digest_who *who);
json_t *seep_digest_texts_json(const struct seep_digest *d, const struct seep_digest_set *set);

#endif
