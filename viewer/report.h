/* Making reports from profile folders, for `seep report` and for the end of `seep run`. */
#ifndef SEEP_VIEWER_REPORT_H
#define SEEP_VIEWER_REPORT_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Writes the report as JSON to `path`, by way of a file beside it that takes its place when it is
 * complete; mode 0600. Returns 0, or -SEEP_EIO with *err. */
SEEP_MUST_CHECK int seep_report_write(const json_t *report, const char *path,
                                      struct seep_error *err);

/* True where text on `out` may have colour: a terminal, and no NO_COLOR. */
bool seep_report_colour(FILE *out);

#endif
