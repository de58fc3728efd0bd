/* Elastic distortion, as PointGroup's loader has it from SparseConvNet: white noise on a coarse
 * grid, smoothed by six box filters, moves the points between its nodes by trilinear interpolation.
 */
#ifndef SEEP_KERNELS_POINTGROUP_ELASTIC_H
#define SEEP_KERNELS_POINTGROUP_ELASTIC_H

#include "kernels/compute/chance.h"
#include "libprof/base/error.h"

/* Moves n points.
 *   at           [n] coordinates; those that are not finite stay
 *   granularity  > 0, in their unit: nodes are twice as far apart
 *   magnitude    in their unit: the deviation of a node's shift is 0.114 of it
 * Allocates a grid of the size of what the points span; frees it. 0, -SEEP_ENOMEM: also where they
 * span so much that it would have 2^24 nodes. */
SEEP_MUST_CHECK int seep_pointgroup_distort(float (*at)[3], size_t n, double granularity,
                                            double magnitude, struct seep_chance *chance);

#endif
