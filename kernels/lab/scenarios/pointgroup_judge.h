/* What the variants of PointGroup's scenario must measure. */
#ifndef SEEP_KERNELS_POINTGROUP_JUDGE_H
#define SEEP_KERNELS_POINTGROUP_JUDGE_H

#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"

/* In the order of the scenario's variants. */
enum seep_pointgroup_variant {
    SEEP_POINTGROUP_EAGER,
    SEEP_POINTGROUP_IN_THREAD,
    SEEP_POINTGROUP_WORKER,
    SEEP_POINTGROUP_PERSISTENT,
    SEEP_POINTGROUP_PINNED,
    SEEP_POINTGROUP_VARIANTS
};

void seep_pointgroup_judge(const struct seep_outcome *outcomes, double scale,
                           struct seep_rows *rows);

#endif
