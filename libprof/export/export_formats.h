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

/* What of a site is shown, in formats that have one value a stack, or show one first. */
enum seep_measure {
    SEEP_MEASURE_RETAINED, /* kept at the end of the last steps: the first, for leaks are that */
    SEEP_MEASURE_LIVE,     /* at the job's end, which frees much, or now */
    SEEP_MEASURE_PEAK,
    SEEP_MEASURE_ALLOCATED,
    SEEP_MEASURE_GROWTH, /* bytes per step; a site that shrinks has none */
    SEEP_N_MEASURES,
};

struct seep_export_options {
    enum seep_measure measure;
    bool is_measure_chosen; /* not the first one for want of a choice */
    const char *profile;    /* by what the profile is called where several are shown together */
};

typedef int seep_export(const json_t *report, const struct seep_export_options *o, FILE *out);

/* "frame;frame;frame value", outermost first and below its space: flamegraph.pl, inferno. */
seep_export seep_export_collapsed;

/* speedscope's own JSON, a profile a measure. */
seep_export seep_export_speedscope;

/* pprof's profile.proto, compressed: all measures, and how many blocks. */
seep_export seep_export_pprof;

/* A Perfetto trace: memory over time, steps, and the sites as heap profiles. */
seep_export seep_export_perfetto;

/* A torch snapshot of the devices. */
seep_export seep_export_torch_snapshot;

/* Totals of the job as OpenMetrics text, under stable names: for Prometheus. */
seep_export seep_export_openmetrics;

#endif
