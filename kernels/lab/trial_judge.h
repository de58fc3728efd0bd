/* What seep said of a variant, held against what it is there to show. */
#ifndef SEEP_KERNELS_TRIAL_JUDGE_H
#define SEEP_KERNELS_TRIAL_JUDGE_H

#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"

/* Adds a line each for how the job ended, for the finding that the variant must have (pattern and
 * severity; function), and for there being no further leak or retention. Returns whether all of
 * them hold. */
bool seep_trial_judge(const struct seep_outcome *outcome, struct seep_rows *rows);

/* The finding of that pattern that weighs most, NULL where there is none; also for a NULL report.
 */
const json_t *seep_trial_finding(const json_t *report, const char *pattern);

#endif
