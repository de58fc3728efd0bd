/* Texts of Python's str objects, as UTF-8. */
#ifndef SEEP_LIBPROF_WHO_GRAPH_PY_TEXT_H
#define SEEP_LIBPROF_WHO_GRAPH_PY_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct seep_heap;

/* Copies a str object's text as UTF-8, cut after a whole character; control characters and invalid
 * ones become '?'. Returns how many bytes, 0 if it is not a str. */
size_t seep_python_text(struct seep_heap *heap, uint64_t object, char *to, size_t capacity);

/* Whether a str object has exactly this text of ASCII characters, of at most 64. */
bool seep_python_text_is(struct seep_heap *heap, uint64_t object, const char *text);

/* Whether `object` is a str. */
bool seep_python_is_text(struct seep_heap *heap, uint64_t object);

#endif
