/* How long the document's training survives on a GPU of some size, over many seeds: the job's own
 * training, without seep and without files. */
#ifndef SEEP_KERNELS_SPARSE_SURVEY_H
#define SEEP_KERNELS_SPARSE_SURVEY_H

#include "kernels/lab/rows.h"
#include "kernels/lab/scenarios/sparse_training.h"

#include <jansson.h>

enum { SEEP_SPARSE_SEEDS = 20, SEEP_SPARSE_STEPS = 2000 };

/* The GPU unless another is asked for: kernels/lab/README.md says why. */
extern const size_t seep_sparse_capacity_bytes;

/* Voxels of made-up scenes, as seep_pointgroup_make_rooms() and the loader give them at any scale;
 * `seep-lab verify` holds them against the job's. */
struct seep_sparse_scenes {
    double voxels;         /* of a scene, on average */
    double spread;         /* deviation of their logarithm */
    double coarse;         /* voxels of twice the edge, for each voxel */
    double coarse_scatter; /* deviation of that one's logarithm */
};
extern const struct seep_sparse_scenes seep_sparse_made_up;

/* What one cure came to, of the seeds 1 … SEEP_SPARSE_SEEDS. */
struct seep_sparse_survey {
    unsigned full, fit_alone;     /* seeds */
    size_t median, fewest, most;  /* steps survived, of SEEP_SPARSE_STEPS */
    double need_bytes;            /* of the steps that failed, on average; 0: none did */
    double reserved_bytes;        /* at the end, on average */
    double live_bytes;            /* of a step at its highest, on average over those that ended */
    double largest_bytes;         /* of the largest such step of all */
    double driver_calls_per_step; /* likewise */
};

/* 0, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_sparse_survey_run(const struct seep_sparse_cure *cure,
                                           size_t capacity_bytes, struct seep_sparse_survey *out,
                                           struct seep_error *err);

/* Rows on what the cures come to. */
void seep_sparse_survey_judge(struct seep_rows *rows);

/* `seep-lab bench minkowski`: appends an object for each GPU and cure to the array `results`.
 * capacity_bytes 0: the default and some around it. */
SEEP_MUST_CHECK int seep_sparse_survey_bench(json_t *results, uint64_t capacity_bytes,
                                             struct seep_error *err);

#endif
