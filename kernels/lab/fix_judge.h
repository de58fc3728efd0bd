/* What `seep verify` said of a variant and its fix, held against what the fix is known to do. */
#ifndef SEEP_KERNELS_FIX_JUDGE_H
#define SEEP_KERNELS_FIX_JUDGE_H

#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"

/* The exit status of `seep verify BEFORE AFTER`: 0 fixed, 1 not. */
int seep_fix_status(const struct seep_fix *fix);

/* Adds a line each for what must vanish, for what must be left, and for each saving that must be
 * as predicted. `verdict`: the JSON document of `seep verify`, or NULL. */
void seep_fix_judge(const struct seep_fix *fix, const json_t *verdict, struct seep_rows *rows);

#endif
