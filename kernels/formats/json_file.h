/* A JSON text as jansson's values, in memory that is bounded and freed all at once. */
#ifndef SEEP_KERNELS_JSON_FILE_H
#define SEEP_KERNELS_JSON_FILE_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stddef.h>
#include <stdio.h>

struct seep_json {
    const json_t *root; /* read only: its references are not counted */
    void *blocks;
};

/* A number takes some 50 bytes and an empty object 230: for each byte of text up to about 80, were
 * there no bound.
 *   bytes       [n], may be NULL where n is 0
 *   most_bytes  that the values may take
 * 0, -SEEP_EFORMAT (no JSON: err->offset says where; or values of more than most_bytes),
 * -SEEP_ENOMEM; *json only where 0. Threads: safe on distinct outputs.
 *
 * jansson asks for memory through functions that hold for the whole process; the first call sets
 * them. Outside of this one they are malloc() and free(). */
SEEP_MUST_CHECK int seep_json_load(const char *file, const void *bytes, size_t n, size_t most_bytes,
                                   struct seep_json *json, struct seep_error *err);

/* Writes a value. -SEEP_EIO: the stream's errno says why; -SEEP_ENOMEM, also where `root` is NULL.
 *   flags  jansson's */
SEEP_MUST_CHECK int seep_json_print(FILE *out, const json_t *root, size_t flags);

/* Also accepts a struct of zeros. */
void seep_json_free(struct seep_json *json);

#endif
