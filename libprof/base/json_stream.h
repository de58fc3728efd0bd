/* Lists of JSON values of which each is made when it is asked for, where all of them would not fit
 * into memory. */
#ifndef SEEP_LIBPROF_BASE_JSON_STREAM_H
#define SEEP_LIBPROF_BASE_JSON_STREAM_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Whoever makes the values embeds it. */
struct seep_json_stream {
    size_t n;
    /* The value at i < n, a new reference, each time the same; NULL without memory. */
    json_t *(*make)(struct seep_json_stream *stream, size_t i);
};

/* Takes an object, and the values of one of its lists, which is empty in it, for the time of the
 * call. Returns 0 or a negative SEEP_E…. */
typedef int seep_json_stream_user(void *context, json_t *object, struct seep_json_stream *values);

/* The values of an array, which stays the caller's. */
struct seep_json_stream_of_list {
    struct seep_json_stream stream;
    const json_t *list; /* NULL: empty */
};
void seep_json_stream_of_list(struct seep_json_stream_of_list *values, const json_t *list);

/* All values as an array: a new reference, NULL without memory. */
json_t *seep_json_stream_all(struct seep_json_stream *values);

/* Dumps an object exactly as json_dump_callback() does with JSON_INDENT(1), with
 * `values` as the array at `key`, which the object has. `put` returns 0 or -1. Returns 0,
 * -SEEP_ENOMEM or, if `put` failed, -SEEP_EIO. */
SEEP_MUST_CHECK int seep_json_stream_dump(const json_t *object, const char *key,
                                          struct seep_json_stream *values, json_dump_callback_t put,
                                          void *context);

#endif
