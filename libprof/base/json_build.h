/* JSON that is made piece by piece is whole, or it is none: memory may be missing for any piece. */
#ifndef SEEP_LIBPROF_BASE_JSON_BUILD_H
#define SEEP_LIBPROF_BASE_JSON_BUILD_H

#include <jansson.h>
#include <stdbool.h>

/* Sets a key; a NULL value or object counts as out of memory: *failed becomes true. */
void seep_json_set(json_t *object, const char *key, json_t *value, bool *failed);
void seep_json_append(json_t *list, json_t *value, bool *failed); /* the same of a list */

/* What was made, or NULL, and nothing of it, where something failed on the way. */
json_t *seep_json_whole(json_t *json, bool failed);

#endif
