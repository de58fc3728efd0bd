/* Two runs of one job are compared site by site. */
#ifndef SEEP_LIBPROF_GATE_SITE_DIFF_H
#define SEEP_LIBPROF_GATE_SITE_DIFF_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Pairs the sites whose stacks (functions and files, no lines) are the same, with what they keep
 * and grow by in each report. Give reports with all sites.
 *   *diff out, a new reference:
 *     { "format": "seep-diff", "version": 1, "seep",
 *       "base": job,
 *       "new": job,
 *       "spaces": as seep_compare_spaces() says,
 *       "sites": [ { as seep_compare_sites() says, and
 *                    "retained_bytes_change", "peak_bytes_change", "growth_change" } ],
 *       "notes": [ text… ] }
 *   "sites": those that changed, by the change of retained bytes, or of growth, largest first.
 * Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_diff(const json_t *base, const json_t *other, bool by_growth,
                              json_t **diff);

#endif
