/* This printer shows the difference of two reports (site_diff.h) on a terminal. */
#ifndef SEEP_LIBPROF_PRINT_DIFF_TEXT_H
#define SEEP_LIBPROF_PRINT_DIFF_TEXT_H

#include "libprof/base/json_stream.h"

#include <stdio.h>

/* Prints the spaces, and the sites that changed most. Returns 0, -SEEP_ENOMEM or
 * -SEEP_EIO. */
SEEP_MUST_CHECK int seep_diff_text(const json_t *diff, struct seep_json_stream *sites, FILE *out,
                                   bool colour);

#endif
