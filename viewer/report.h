/* Making reports from profile folders, for `seep report` and for the end of `seep run`. */
#ifndef SEEP_VIEWER_REPORT_H
#define SEEP_VIEWER_REPORT_H

#include "libprof/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

#if __has_include("libprof/report_text.h") /* until the analysis is in */
#include "libprof/analysis.h"
#include "libprof/report_text.h"
#else
struct seep_analysis_options {
    bool all_sites;
};
static inline int seep_analyse(const char *const *dirs, size_t n, const struct seep_analysis_options *o,
                               json_t **report, struct seep_error *err)
{
    (void)n, (void)o, (void)report;
    return seep_error_set(err, SEEP_ENODATA, dirs[0], 0, "this build has no analysis");
}
static inline int seep_report_text(const json_t *report, FILE *out, bool colour)
{
    (void)report, (void)out, (void)colour;
    return 0;
}
#endif

/* Writes the report as JSON to `path`, by way of a file beside it that takes its place when it is
 * complete; mode 0600. Returns 0, or -SEEP_EIO with *err. */
SEEP_MUST_CHECK int seep_report_write(const json_t *report, const char *path, struct seep_error *err);

/* True where text on `out` may have colour: a terminal, and no NO_COLOR. */
bool seep_report_colour(FILE *out);

#endif
