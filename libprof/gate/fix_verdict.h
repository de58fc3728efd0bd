/* Two runs of one job, before and after a fix; and the same site by site. */
#ifndef SEEP_LIBPROF_GATE_FIX_VERDICT_H
#define SEEP_LIBPROF_GATE_FIX_VERDICT_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>

/* Judges a fix. Findings of severity leak, retention and pressure count, remarks (info) only where
 * before has nothing worse; one that has become a remark, or another pattern of mere pressure, is
 * gone. Fixed: something is gone, nothing that counts remains, no leak or retention is new. Where
 * before has nothing, whatever after has is new.
 *   *verdict out, a new reference:
 *     { "format": "seep-verify", "version": 1, "seep", "verdict": "fixed|not-fixed", "why": text,
 *       "before": job, "after": job,
 *       "findings": [ { "state": "vanished|remains|new", "before": FINDING|null,
 *                       "after": FINDING|null } ],
 *       "spaces": [ { "space", "before": SIDE|null, "after": SIDE|null } ],
 *       "savings": [ { "space", "predicted_bytes", "measured_bytes", "agrees" } ],
 *       "notes": [ text… ] }
 *     SIDE { "peak_bytes", "growth_bytes_per_step": {value, low, high}|null }
 *   "savings": for spaces in which a vanished finding predicts one; measured is the fall of the
 *   space's peak, which agrees within a tenth.
 * Returns 0; -SEEP_ENODATA when it cannot be judged, -SEEP_EINVAL when they are not runs of one
 * job, with *err; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_verify(const json_t *before, const json_t *after, bool allow_incomplete,
                                json_t **verdict, struct seep_error *err);
int seep_verify_text(const json_t *verdict, FILE *out, bool colour);

/* Sites whose stacks (functions and files, no lines) are the same, and what they keep and grow by
 * in each report. Give reports with all sites. *diff out, a new reference: { "format": "seep-diff",
 * "version": 1, "seep", "base": job, "new": job, "spaces": as above, "sites": [ { as
 * seep_compare_sites() says, and "retained_bytes_change", "peak_bytes_change", "growth_change" } ],
 * "notes": [ text… ] } those that changed, by the change of retained bytes, or of growth, largest
 * first. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_diff(const json_t *base, const json_t *other, bool by_growth,
                              json_t **diff);
int seep_diff_text(const json_t *diff, FILE *out, bool colour);

/* The spaces of two reports side by side; NULL without memory. */
json_t *seep_spaces_beside(const json_t *before, const json_t *after);
void seep_spaces_beside_text(const json_t *spaces, FILE *out);

#endif
