/* This printer shows the verdict on a fix (fix_verdict.h) on a terminal. */
#ifndef SEEP_LIBPROF_PRINT_FIX_TEXT_H
#define SEEP_LIBPROF_PRINT_FIX_TEXT_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints what vanished, remains and is new, the spaces, and what was saved. Returns 0 or -SEEP_EIO.
 */
int seep_fix_text(const json_t *verdict, FILE *out, bool colour);

#endif
