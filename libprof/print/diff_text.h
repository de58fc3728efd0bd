/* This printer shows the difference of two reports (site_diff.h) on a terminal. */
#ifndef SEEP_LIBPROF_PRINT_DIFF_TEXT_H
#define SEEP_LIBPROF_PRINT_DIFF_TEXT_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Prints the spaces, and the sites that changed most. Returns 0 or -SEEP_EIO. */
int seep_diff_text(const json_t *diff, FILE *out, bool colour);

#endif
