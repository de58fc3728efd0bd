/* A line of code as evidence names it. */
#ifndef SEEP_LIBPROF_CODE_PLACE_TEXT_H
#define SEEP_LIBPROF_CODE_PLACE_TEXT_H

#include "libprof/code/code.h"

/* "train.py:12" of Python, its path relative to the job's folder; of native code, the function,
 * which is looked up, or the file. Allocates the result; NULL without memory. */
char *seep_place_text(const struct seep_code *code, uint32_t frame);

#endif
