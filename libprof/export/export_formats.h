/* A report in the formats of other tools, one file a format. What is written is the report's, value
 * by value: what a format has no word for is left out, and what a report does not know is not made
 * up. Texts of a report are anybody's: each file escapes what its format needs.
 *
 * All take a report with every site, its series and all layouts (seep_analysis_options), and return
 * 0; -SEEP_ENODATA where nothing in it can be said in that format; -SEEP_ENOMEM; -SEEP_EIO where
 * `out` fails. They allocate; threads: safe on distinct outputs. */
#ifndef SEEP_LIBPROF_EXPORT_FORMATS_H
#define SEEP_LIBPROF_EXPORT_FORMATS_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

enum seep_measure {
#define SEEP_MEASURE(id, name) SEEP_MEASURE_##id,
#include "libprof/export/measures.def"
#undef SEEP_MEASURE
    SEEP_N_MEASURES
};

struct seep_export_options {
    enum seep_measure measure;
    bool is_measure_chosen; /* not the first one for want of a choice */
    const char *profile;    /* by what the profile is called where several are shown together */
};

typedef int seep_export(const json_t *report, const struct seep_export_options *o, FILE *out);

#define SEEP_EXPORT_FORMAT(function, ...) seep_export seep_export_##function;
#include "libprof/export/export_formats.def"
#undef SEEP_EXPORT_FORMAT

#endif
