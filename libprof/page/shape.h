/* Untrusted JSON of a known shape: a checked copy, with the known fields only. */
#ifndef SEEP_LIBPROF_PAGE_SHAPE_H
#define SEEP_LIBPROF_PAGE_SHAPE_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

enum seep_shape_kind {
    SEEP_SHAPE_COUNT,  /* a whole number ≥ 0 */
    SEEP_SHAPE_NUMBER, /* any number */
    SEEP_SHAPE_BOOLEAN,
    SEEP_SHAPE_TEXT, /* cleaned, and cut after `most` bytes */
    SEEP_SHAPE_WORD, /* one of `words` */
    SEEP_SHAPE_OBJECT,
    SEEP_SHAPE_LIST, /* of at most `most` items */
    SEEP_SHAPE_MAP,  /* of at most `most` items by name; names are cleaned, and cut */
};

/* What may be missing is left out, what may be null stays null. */
enum { SEEP_SHAPE_OR_NULL = 1, SEEP_SHAPE_OR_MISSING = 2 };

struct seep_shape {
    enum seep_shape_kind kind;
    unsigned others;
    size_t most;
    const char *const *words;        /* NULL ends them */
    const struct seep_shape *item;   /* of a list or map */
    const struct seep_field *fields; /* of an object; a NULL key ends them */
};

struct seep_field {
    const char *key;
    struct seep_shape shape;
};

/* Returns 0 with *copy, a new reference; -SEEP_EFORMAT with *err: "looks[2].rss_bytes is not a
 * whole number"; -SEEP_ENOMEM. `name` is that of the file, for *err. */
SEEP_MUST_CHECK int seep_shape_take(const struct seep_shape *shape, const json_t *from,
                                    const char *name, json_t **copy, struct seep_error *err);

#endif
