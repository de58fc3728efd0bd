/* Texts in columns of a terminal: cut, padded, and drawn in characters that it has. Names are
 * untrusted: whatever moves the cursor, changes the direction of text or has no width shows as
 * '?'. */
#ifndef SEEP_VIEWER_TOP_TEXT_H
#define SEEP_VIEWER_TOP_TEXT_H

#include <jansson.h>
#include <stdbool.h>

enum { SEEP_TOP_CELL = 4 }; /* bytes that a column takes at most */

/* All write at most `columns` columns, SEEP_TOP_CELL bytes each and a NUL, to `out`, in ASCII
 * unless `utf8`, which the locale must then be (wcwidth(3)). Allocate: nothing. */

/* As much of the text as fits; the last column shows where it is cut. `text` need not be valid
 * UTF-8. Returns the columns used. */
int seep_top_fit(char *out, const char *text, int columns, bool utf8);

/* The same for "folder/file.py:40 in f": folders are cut first. */
int seep_top_fit_place(char *out, const char *place, int columns, bool utf8);

/* "[####      ]  42%"; with fewer than 12 columns only the share. */
int seep_top_bar(char *out, double share, int columns, bool utf8);

/* A curve of `n` levels, one per column, from 0 to the highest; a level below 0 leaves its column
 * empty. */
int seep_top_curve(char *out, const double *levels, int n, bool utf8);

/* The highest of `values` in each of `n` equal parts of the axis `at` (ascending) between `from`
 * and `to`; a part without values takes the last one before it, and -1 before the first. Returns
 * the number of levels: n, or 0 where the two arrays differ in length or are empty. */
int seep_top_levels(const json_t *at, const json_t *values, double from, double to, double *levels,
                    int n);

/* "12 s", "2 min 05 s", "3 h 02 min". */
void seep_top_duration(double seconds, char text[32]);

/* "1234", "123 k", "12.3 M": at most 7 columns. */
void seep_top_count(double n, char text[32]);

#endif
