/* Two runs of one job are compared site by site. */
#ifndef SEEP_LIBPROF_GATE_SITE_DIFF_H
#define SEEP_LIBPROF_GATE_SITE_DIFF_H

#include "libprof/report_read/site_pairs.h"

/* Pairs the sites whose stacks (functions and files, no lines) are the same, with what they keep
 * and grow by in each run. Calls use(context, DIFF, sites) once:
 *   DIFF, of which `sites` is empty, because the stream makes them:
 *     { "format": "seep-diff", "version": 1, "seep",
 *       "base": job,
 *       "new": job,
 *       "spaces": as seep_compare_spaces() says,
 *       "sites": [ { as seep_site_pair_json() says, and
 *                    "retained_bytes_change", "peak_bytes_change", "growth_change" } ],
 *       "notes": [ text… ] }
 *   "sites": those that changed, by the change of retained bytes, or of growth, largest first.
 * Returns what `use` returned, or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_diff(const struct seep_compared runs[2], bool by_growth,
                              seep_json_stream_user *use, void *context);

#endif
