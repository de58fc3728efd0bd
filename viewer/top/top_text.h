/* Texts in columns of a terminal: cut, padded, and drawn of characters that it has. Names are
 * untrusted: whatever moves the cursor, turns the text around or has no width shows as '?'. */
#ifndef SEEP_VIEWER_TOP_TEXT_H
#define SEEP_VIEWER_TOP_TEXT_H

#include <jansson.h>
#include <stdbool.h>

enum { SEEP_TOP_CELL = 4 }; /* bytes that a column takes at most */

/* All write at most `columns` columns, SEEP_TOP_CELL bytes each and a NUL, to `out`, in ASCII
 * unless `utf8`, which the locale must then be (wcwidth(3)). Allocate: nothing. */

/* As much of the text as fits; where it is cut its last column says so. `text` need not be valid
 * UTF-8. Returns the columns used. */
int seep_top_fit(char *out, const char *text, int columns, bool utf8);

/* The same of "folder/file.py:40 in f": folders give way before anything else does. */
int seep_top_fit_place(char *out, const char *place, int columns, bool utf8);

/* "[####      ]  42%"; of fewer than 12 columns the share alone. */
int seep_top_bar(char *out, double share, int columns, bool utf8);

/* A curve of `n` levels, one a column, from 0 to the highest; a level below 0 leaves its column
 * empty. */
int seep_top_curve(char *out, const double *levels, int n, bool utf8);

/* The highest of `values` in each of `n` equal parts of the axis `at` (ascending) between two
 * places of it; where a part has none the last one before it, and -1 before the first. Returns how
 * many levels there are: n, or 0 where the two arrays do not go together or are empty. */
int seep_top_levels(const json_t *at, const json_t *values, double from, double to, double *levels,
                    int n);

/* "12 s", "2 min 05 s", "3 h 02 min". */
void seep_top_duration(double seconds, char text[32]);

/* "1234", "123 k", "12.3 M": at most 7 columns. */
void seep_top_count(double n, char text[32]);

#endif
