/* Writes a report in the formats of other tools, one file per format. Values are the report's own:
 * what a format cannot express is left out, and what a report does not know is not invented. Texts
 * of a report are untrusted: each file escapes what its format needs.
 *
 * All functions take a report with series and all layouts (seep_analysis_options), and every site
 * of it, whose frames outlive the call (report/report_json.h). They keep no site, and return 0;
 * -SEEP_ENODATA if the format can express nothing in it; -SEEP_ENOMEM; -SEEP_EIO if `out` fails.
 * They allocate; threads: safe on distinct outputs. */
#ifndef SEEP_LIBPROF_EXPORT_FORMATS_H
#define SEEP_LIBPROF_EXPORT_FORMATS_H

#include "libprof/base/json_stream.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum seep_measure {
#define SEEP_MEASURE(id, name) SEEP_MEASURE_##id,
#include "libprof/export/measures.def"
#undef SEEP_MEASURE
    SEEP_N_MEASURES
};

struct seep_export_options {
    enum seep_measure measure;
    bool tensors;           /* show them first or, in formats with one sum, alone; else not in it */
    int64_t *left_out;      /* where those formats add the bytes of tensors that they left out */
    const char *profile;    /* the profile's name, for tools that show several together */
    double read_unix_s; /* when the report was made, for tools that read it again; 0: not said */
};

typedef int seep_export(const json_t *report, struct seep_json_stream *sites,
                        const struct seep_export_options *o, FILE *out);

#define SEEP_EXPORT_FORMAT(function, ...) seep_export seep_export_##function;
#include "libprof/export/export_formats.def"
#undef SEEP_EXPORT_FORMAT

#endif
