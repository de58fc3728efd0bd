/* A fix is judged by two runs of one job, before and after it. */
#ifndef SEEP_LIBPROF_GATE_FIX_VERDICT_H
#define SEEP_LIBPROF_GATE_FIX_VERDICT_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Judges a fix. Findings of severity leak, retention and pressure count, remarks (info) only if
 * `before` has nothing worse. A finding is gone if it has become a remark or another pattern of
 * mere pressure, or if its holder grew before and does not grow after, whatever line makes the
 * memory. Fixed: something is gone, nothing that counts remains, and no leak or retention is new.
 * If `before` has no findings, all of `after` are new.
 *   *verdict out, a new reference:
 *     { "format": "seep-verify", "version": 1, "seep",
 *       "verdict": "fixed|not-fixed",
 *       "why": text,
 *       "before": job,
 *       "after": job,
 *       "findings": [ { "state": "vanished|remains|new",
 *                       "before": FINDING|null,
 *                       "after": FINDING|null } ],
 *       "spaces": as seep_compare_spaces() says,
 *       "savings": [ { "space", "predicted_bytes", "measured_bytes", "agrees" } ],
 *       "notes": [ text… ] }
 *   "savings": for spaces in which a vanished finding predicts one; measured: how far the space's
 *   peak fell; agrees: within a tenth.
 * Returns 0; -SEEP_ENODATA if it cannot be judged, -SEEP_EINVAL if they are not runs of one
 * job, with *err; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_verify(const json_t *before, const json_t *after, bool allow_incomplete,
                                json_t **verdict, struct seep_error *err);

#endif
