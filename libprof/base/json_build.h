/* JSON built piece by piece is complete or NULL: memory may run out at any piece. */
#ifndef SEEP_LIBPROF_BASE_JSON_BUILD_H
#define SEEP_LIBPROF_BASE_JSON_BUILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

struct seep_slope;

/* Sets a key; a NULL value or object counts as out of memory: *failed becomes true. */
void seep_json_set(json_t *object, const char *key, json_t *value, bool *failed);
/* The same, for keys that are known to be UTF-8, as those written here are: in what a report has
 * thousands of, to check them counts. */
void seep_json_set_known(json_t *object, const char *key, json_t *value, bool *failed);
void seep_json_append(json_t *list, json_t *value, bool *failed); /* the same of a list */

/* The JSON as built, or NULL, with everything freed, if something failed on the way. */
json_t *seep_json_whole(json_t *json, bool failed);

/* The value; NULL counts as above. */
json_t *seep_json_made(json_t *value, bool *failed);

/* Single values. All return new references, NULL without memory (which json_object_set_new() and
 * its like treat as a failure). */
json_t *seep_json_text(const char *bytes);               /* cleaned */
json_t *seep_json_text_n(const char *bytes, size_t n);   /* the same of `n` bytes */
json_t *seep_json_text_or_null(const char *bytes);       /* null for NULL and "" */
json_t *seep_json_count_or_null(int64_t n);              /* null if negative */
json_t *seep_json_count(uint64_t n);                     /* cut at 2⁶³−1 */
json_t *seep_json_real(double x);                        /* 0 for numbers that JSON does not have */
json_t *seep_json_slope(const struct seep_slope *slope); /* {value, low, high} */

#endif
