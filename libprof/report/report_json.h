/* The report becomes JSON here, version 2; docs/report.schema.json describes it. */
#ifndef SEEP_LIBPROF_REPORT_REPORT_JSON_H
#define SEEP_LIBPROF_REPORT_REPORT_JSON_H

#include "libprof/report/report_input.h"

#include <jansson.h>

/* *report: a new reference. Equal frames are one shared value: copy one before you change it. Texts
 * are valid UTF-8 without control characters, whatever the profile held; counts are cut at 2⁶³−1.
 * Looks up the native symbols that it prints. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_report_json(struct seep_report_pieces *pieces, json_t **report);

#endif
