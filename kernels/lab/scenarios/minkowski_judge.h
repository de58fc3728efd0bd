/* What the variants of MinkowskiEngine's scenario must measure. */
#ifndef SEEP_KERNELS_MINKOWSKI_JUDGE_H
#define SEEP_KERNELS_MINKOWSKI_JUDGE_H

#include "kernels/lab/rows.h"
#include "kernels/lab/scenario.h"

/* In the order of the scenario's variants. */
enum seep_minkowski_variant {
    SEEP_MINKOWSKI_NONE,
    SEEP_MINKOWSKI_EMPTY_EVERY_10,
    SEEP_MINKOWSKI_EMPTY_EVERY_STEP,
    SEEP_MINKOWSKI_EXPANDABLE,
    SEEP_MINKOWSKI_PADDED,
    SEEP_MINKOWSKI_DDP,
    SEEP_MINKOWSKI_ROOMY,
    SEEP_MINKOWSKI_ROOMY_EXPANDABLE,
    SEEP_MINKOWSKI_ROOMY_LARGEST_FIRST,
    SEEP_MINKOWSKI_COORDINATES_KEPT,
    SEEP_MINKOWSKI_COORDINATES_CLEARED,
    SEEP_MINKOWSKI_VARIANTS
};

void seep_minkowski_judge(const struct seep_outcome *outcomes, double scale,
                          struct seep_rows *rows);

#endif
