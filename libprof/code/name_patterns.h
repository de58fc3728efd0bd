/* Patterns of names in tables: shell patterns (*, ?) with '|' between them. */
#ifndef SEEP_LIBPROF_CODE_NAME_PATTERNS_H
#define SEEP_LIBPROF_CODE_NAME_PATTERNS_H

#include <stdbool.h>

/* Whether a text matches one of `patterns`; `ends`: it may also only end with a match. No empty
 * text does. Pure. */
bool seep_name_fits(const char *patterns, const char *text, bool ends);

#endif
