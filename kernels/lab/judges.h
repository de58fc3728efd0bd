/* Compares what seep said of a variant, and of its fix, with what the scenario expects. */
#ifndef SEEP_KERNELS_JUDGES_H
#define SEEP_KERNELS_JUDGES_H

#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"

/* Adds a line each for how the job ended, for the finding that the variant must have at this scale
 * (pattern and severity; function), and for there being no further leak or retention. Returns
 * whether all of them hold. */
bool seep_trial_judge(const struct seep_outcome *outcome, double scale, struct seep_rows *rows);

/* The finding of that pattern that weighs most, NULL where there is none; also for a NULL report.
 */
const json_t *seep_trial_finding(const json_t *report, const char *pattern);

/* The exit status of `seep verify BEFORE AFTER`: 0 fixed, 1 not. */
int seep_fix_status(const struct seep_fix *fix);

/* Adds a line each for what must vanish, for what must be left, and for each saving that must be
 * as predicted. `verdict`: the JSON document of `seep verify`, or NULL. */
void seep_fix_judge(const struct seep_fix *fix, const json_t *verdict, struct seep_rows *rows);

#endif
