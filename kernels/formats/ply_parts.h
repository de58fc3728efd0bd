/* What the files of the PLY reader and writer share; for nobody else but their tests. */
#ifndef SEEP_KERNELS_PLY_PARTS_H
#define SEEP_KERNELS_PLY_PARTS_H

#include "kernels/formats/byte_file.h"
#include "kernels/formats/ply_types.h"
#include "libprof/base/error.h"

#include <stdio.h>

struct seep_ply_source {
    const char *file; /* for errors, "" where there is none */
    struct seep_bytes bytes;
    struct seep_error *err;
};

/* Each takes what it allocates into *ply, also when it fails. The header's elements have no values
 * yet; a body of either encoding fills them. */
SEEP_MUST_CHECK int seep_ply_parse_header(struct seep_ply_source *source, struct seep_ply *ply);
SEEP_MUST_CHECK int seep_ply_parse_ascii(struct seep_ply_source *source, struct seep_ply *ply);
SEEP_MUST_CHECK int seep_ply_parse_binary(struct seep_ply_source *source, struct seep_ply *ply);

/* Values of all scalars and starts of all lists of an element whose n is known to be bearable;
 * values are zeros. -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_ply_allocate(struct seep_ply_element *element);
/* Room for `count` more items of a list behind the `used` ones; NULL: no memory. Only for lists
 * that grew by this alone. */
void *seep_ply_list_room(struct seep_ply_property *list, size_t used, size_t count);

SEEP_MUST_CHECK int seep_ply_error(struct seep_ply_source *source, int code, const char *text);

const char *seep_ply_type_name(enum seep_ply_type type);
/* False where the word names no type. */
bool seep_ply_type_of(const char *word, size_t n, enum seep_ply_type *type);
/* Whether the type is one of integers, and the value one of them. */
bool seep_ply_type_holds(enum seep_ply_type type, int64_t value);
/* A word of 1 to 63 bytes, without control characters: what elements and properties are called. */
bool seep_ply_is_name(const char *text, size_t n);

/* The file's text to a stream, whose error flag says whether that went well. -SEEP_EINVAL as
 * seep_ply_write(), before anything is written. */
SEEP_MUST_CHECK int seep_ply_print(FILE *out, const struct seep_ply *ply);

#endif
