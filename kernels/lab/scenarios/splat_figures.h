/* The seed's figures of the splat scenario, and what holds a run against them. */
#ifndef SEEP_KERNELS_SPLAT_FIGURES_H
#define SEEP_KERNELS_SPLAT_FIGURES_H

#include "kernels/lab/scenario.h"

enum seep_splat_variant {
    SEEP_SPLAT_EAGER,
    SEEP_SPLAT_LAZY_CACHED,
    SEEP_SPLAT_LAZY_EVICTING,
    SEEP_SPLAT_LAZY_CARRYING,
    SEEP_SPLAT_HOST_RESIDENT,
    SEEP_SPLAT_HOST_FLOATS,
    SEEP_SPLAT_LAZY_DECODED,
    SEEP_SPLAT_EAGER_EVAL,
    SEEP_SPLAT_PAIR_SPIKE,
    SEEP_SPLAT_CLAMPED,
    SEEP_SPLAT_CAT,
    SEEP_SPLAT_CAT_EMPTIED,
    SEEP_SPLAT_CAT_EXPANDABLE,
    SEEP_SPLAT_PREALLOCATED,
    SEEP_SPLAT_SPARSE_ADAM,
};

enum {
    SEEP_SPLAT_GROWTH = 4,                 /* times as many Gaussians after densification */
    SEEP_SPLAT_SEED_GAUSSIAN_BYTES = 1580, /* 4 million are 6.3 GB */
};

/* Holds what the variants on a card of 8 GB came to. */
void seep_splat_judge_card(const struct seep_outcome *outcomes, struct seep_rows *rows);

/* See scenario.h. */
void seep_splat_judge(const struct seep_outcome *outcomes, double scale, struct seep_rows *rows);

#endif
