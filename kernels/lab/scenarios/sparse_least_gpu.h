/* The smallest GPU on which the document's training ends, if its cache does no harm. */
#ifndef SEEP_KERNELS_SPARSE_LEAST_GPU_H
#define SEEP_KERNELS_SPARSE_LEAST_GPU_H

#include "kernels/lab/scenarios/sparse_training.h"

/* To a hundredth of what the largest step has live: the least on which each of the plans (ranks, a
 * GPU each) ends with segments that grow, and each of their steps fits without them where nothing
 * has been before. The plans' scenes, n_steps and load() are used, which is called often for each
 * batch. *largest is the largest of these. 0, what load() returns, -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_sparse_least_gpu(const struct seep_sparse_plan *plans, unsigned n_plans,
                                          size_t *bytes, struct seep_sparse_size *largest,
                                          struct seep_error *err);

#endif
