/* Small texts for people: sizes, and untrusted strings made harmless. */
#ifndef SEEP_LIBPROF_BASE_TEXT_H
#define SEEP_LIBPROF_BASE_TEXT_H

#include "libprof/base/error.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

enum { SEEP_SIZE_TEXT = 32, SEEP_TEXT_MAX_FILE_BYTES = 1 << 20 };

/* "512 B", "12.3 KiB", "316 MiB", "−1.0 MiB" (with a plain minus): no decimals from 100 on, where
 * they do not matter. Returns `text`. */
const char *seep_text_size(double bytes, char text[SEEP_SIZE_TEXT]);

/* "20,000". Returns `text`. */
const char *seep_text_count(unsigned long long n, char text[SEEP_SIZE_TEXT]);

/* " (NAME54.0 KiB to 54.1 KiB)", the interval around a value; "" if both ends print like the value.
 * Returns `text`. */
enum { SEEP_INTERVAL_TEXT = 2 * SEEP_SIZE_TEXT + 40 };
const char *seep_text_interval(const char *name, double value, double low, double high,
                               char text[SEEP_INTERVAL_TEXT]);

/* "steps 3 to 9", or "step 3" if it is only one. Returns `text`. */
enum { SEEP_SPAN_TEXT = 64 };
const char *seep_text_span(const char *unit, long from, long to, char text[SEEP_SPAN_TEXT]);

/* Copies `n` bytes as valid UTF-8 without control characters; anything else becomes '?'. Allocates
 * the result (free() it); NULL without memory. */
char *seep_text_clean(const char *bytes, size_t n);

/* The same in place for `n` bytes, with room for a terminating NUL. Returns how many are left. */
size_t seep_text_clean_in_place(char *text, size_t n);

/* Whether the text is valid UTF-8 (RFC 3629). Allocates: nothing. */
bool seep_text_is_utf8(const char *text);

/* Formats into an allocated string; NULL without memory. */
char *seep_text_format(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Writes words as "a, b and c", with `last` (" and ") before the last; truncates if there is no
 * room. Returns `text`. */
const char *seep_text_list(const char *const *words, size_t n, const char *last, char *text,
                           size_t capacity);

/* The last component of a path. */
const char *seep_text_base(const char *path);

/* Reads a text file written by a user; *text, free()d by the caller, ends with a NUL. Returns 0;
 * -SEEP_EIO; -SEEP_EINVAL if it is too large or contains NULs; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_text_read(const char *file, char **text, size_t *n,
                                   struct seep_error *err);

/* Fills `line`, of at least 64 bytes, with a message for stderr: "NAME: ...", control characters
 * replaced, cut to fit, with its end of line. Returns its length. Allocates nothing. */
size_t seep_text_complaint(char *line, size_t capacity, const char *name, const char *format,
                           va_list args) __attribute__((format(printf, 4, 0)));

/* The word of the list (which ends with NULL) that was probably meant: at most two letters differ,
 * and less than half of it; NULL: none. */
const char *seep_text_nearest(const char *word, const char *const *list);

#endif
