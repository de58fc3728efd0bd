/* The report becomes JSON here, version 2; docs/report.schema.json describes it. */
#ifndef SEEP_LIBPROF_REPORT_REPORT_JSON_H
#define SEEP_LIBPROF_REPORT_REPORT_JSON_H

#include "libprof/base/json_stream.h"
#include "libprof/report/report_input.h"

#include <jansson.h>

/* Calls use(context, report, sites) once: the report has every key, but its `sites` is empty; they
 * are in the stream, made one by one. The report is the callee's to keep (json_incref()). Equal
 * frames are one shared value, and those of all sites stay where they are until `use` returns: copy
 * one before you change it. Texts are valid UTF-8 without control characters, whatever the profile
 * held; counts are cut at 2⁶³−1. Looks up the native symbols that it prints. Returns what `use`
 * returned, or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_report_json(struct seep_report_pieces *pieces, seep_json_stream_user *use,
                                     void *context);

#endif
