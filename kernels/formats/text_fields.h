/* Lines, fields and numbers of text formats, whatever the locale. */
#ifndef SEEP_KERNELS_TEXT_FIELDS_H
#define SEEP_KERNELS_TEXT_FIELDS_H

#include "kernels/formats/byte_file.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* What stands between white space; it points into the text. */
struct seep_field {
    const char *at;
    size_t n;
};

/* The next line, without its \n or \r\n; offsets in it are those of the text. False at the end. */
bool seep_text_line(struct seep_bytes *text, struct seep_bytes *line);

/* The next field; false, and an empty field, where there is none. */
bool seep_text_field(struct seep_bytes *text, struct seep_field *field);

bool seep_field_is(const struct seep_field *field, const char *word);

/* The whole field as a number: decimal, or inf and nan as printf writes them; false, and 0, where
 * it is something else, too large for the type, or over 127 bytes. Allocates: nothing that grows.
 */
bool seep_field_f64(const struct seep_field *field, double *value);
bool seep_field_i64(const struct seep_field *field, int64_t *value);
bool seep_field_u64(const struct seep_field *field, uint64_t *value);

/* "%.*g" with a point. 17 digits bring a double back, 9 a float. */
void seep_text_print(FILE *out, double value, int digits);

#endif
