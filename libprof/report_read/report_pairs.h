/* Pairs the findings of two reports of one job that are the same (site_pairs.h: their sites).
 * Nothing here depends on line numbers, folders, addresses, process numbers or times. */
#ifndef SEEP_LIBPROF_REPORT_READ_REPORT_PAIRS_H
#define SEEP_LIBPROF_REPORT_READ_REPORT_PAIRS_H

#include "libprof/base/error.h"
#include "libprof/base/statistics.h"
#include "libprof/report_read/report_fields.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* How much two runs of the same program may differ. */
struct seep_tolerance {
    double share; /* of the older value */
    double bytes;
};
#define SEEP_TOLERANCE ((struct seep_tolerance){0.10, 64 * 1024})
/* Arenas are of 1 MiB, and one object keeps one alive. */
#define SEEP_TOLERANCE_INTERPRETER ((struct seep_tolerance){0.25, 4 * 1024 * 1024})

bool seep_compare_grown(double before, double after, const struct seep_tolerance *tolerance);

/* Growth: the intervals do not overlap, and over `steps` the difference exceeds the tolerance. */
bool seep_compare_growth_grown(const struct seep_slope *before, const struct seep_slope *after,
                               double steps, const struct seep_tolerance *tolerance);

/* Pairs the findings of two reports: same line, pattern and space; else same function, file name,
 * pattern and space; else the same without the pattern. Each is in one pair.
 *   *pairs out, a new reference: [{ "before": FINDING|null, "after": FINDING|null }], those of
 *          `before` first, in their order
 * Returns 0 or -SEEP_ENOMEM. Threads: safe on distinct reports. */
SEEP_MUST_CHECK int seep_compare_findings(const json_t *before, const json_t *after,
                                          json_t **pairs);

/* The spaces of two reports side by side; NULL without memory.
 *   [ { "space", "before": SIDE|null, "after": SIDE|null } ]
 *   SIDE: { "peak_bytes", "growth_bytes_per_step": {value, low, high}|null } */
json_t *seep_compare_spaces(const json_t *before, const json_t *after);

/* A number that is the same for findings which the second comparison above treats as the same. */
uint64_t seep_compare_fingerprint(const struct seep_report_finding *f);

/* Whether the job failed after it had run out of memory: it may have had fewer steps than another
 * run. */
bool seep_compare_ran_out(const json_t *report);

/* Whether both are runs of one job: the same script, module or program (arguments may differ), the
 * same source of steps, step counts that differ by at most a tenth (unless steps are time slices,
 * or the shorter run ran out of memory), and as many ranks. Returns 0, or -SEEP_EINVAL with the
 * difference in *err. */
SEEP_MUST_CHECK int seep_compare_jobs(const json_t *before, const json_t *after,
                                      struct seep_error *err);

/* Whether a report can be judged: the job has ended and was read completely (not required with
 * `allow_incomplete`), and it had steps. Returns 0, or -SEEP_ENODATA with *err. */
SEEP_MUST_CHECK int seep_compare_usable(const json_t *report, bool allow_incomplete,
                                        struct seep_error *err);

/* Whether a report's steps were enough to measure growth at all, or the job ran out of memory: with
 * fewer, a report without findings proves nothing. Returns 0, or -SEEP_ENODATA with *err. */
SEEP_MUST_CHECK int seep_compare_long_enough(const json_t *report, struct seep_error *err);

#endif
