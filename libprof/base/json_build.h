/* JSON that is made piece by piece is whole, or it is none: memory may be missing for any piece. */
#ifndef SEEP_LIBPROF_BASE_JSON_BUILD_H
#define SEEP_LIBPROF_BASE_JSON_BUILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* Sets a key; a NULL value or object counts as out of memory: *failed becomes true. */
void seep_json_set(json_t *object, const char *key, json_t *value, bool *failed);
void seep_json_append(json_t *list, json_t *value, bool *failed); /* the same of a list */

/* What was made, or NULL, and nothing of it, where something failed on the way. */
json_t *seep_json_whole(json_t *json, bool failed);

/* Values of their own. All return new references, NULL without memory (which json_object_set_new()
 * and its like take for a failure). */
json_t *seep_json_text(const char *bytes);             /* cleaned */
json_t *seep_json_text_n(const char *bytes, size_t n); /* the same of `n` bytes */
json_t *seep_json_text_or_null(const char *bytes);     /* null for NULL and "" */
json_t *seep_json_count_or_null(int64_t n);            /* null where it is negative */
json_t *seep_json_count(uint64_t n);                   /* cut at 2⁶³−1 */

#endif
