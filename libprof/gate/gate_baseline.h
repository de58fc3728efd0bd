/* This part of the gate finds what is new or has grown since an older run. */
#ifndef SEEP_LIBPROF_GATE_GATE_BASELINE_H
#define SEEP_LIBPROF_GATE_GATE_BASELINE_H

#include "libprof/gate/gate_check.h"

/* Holds a report against an older one of the same job, both with all sites: adds a line for each
 * finding and place that is new or has grown, one that holds where there is none, and changes the
 * verdicts of the check's findings. */
void seep_gate_baseline(struct seep_gate_check *check, const json_t *report,
                        const json_t *baseline);

#endif
