/* A fix is judged by two runs of one job, before and after it. */
#ifndef SEEP_LIBPROF_GATE_FIX_VERDICT_H
#define SEEP_LIBPROF_GATE_FIX_VERDICT_H

#include "libprof/base/error.h"

#include <jansson.h>
#include <stdbool.h>

/* Judges a fix. Findings of severity leak, retention and pressure count, remarks (info) only where
 * before has nothing worse; one that has become a remark, or another pattern of mere pressure, is
 * gone, and so is one whose holder grew before and stays after, whatever line the memory is made
 * in. Fixed: something is gone, nothing that counts remains, no leak or retention is new. Where
 * before has nothing, whatever after has is new.
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
 *   "savings": for spaces in which a vanished finding predicts one; measured is the fall of the
 *   space's peak, which agrees within a tenth.
 * Returns 0; -SEEP_ENODATA when it cannot be judged, -SEEP_EINVAL when they are not runs of one
 * job, with *err; -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_verify(const json_t *before, const json_t *after, bool allow_incomplete,
                                json_t **verdict, struct seep_error *err);

#endif
