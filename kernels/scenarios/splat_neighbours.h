/* How far apart points lie: what the first Gaussians are sized by. */
#ifndef SEEP_KERNELS_SPLAT_NEIGHBOURS_H
#define SEEP_KERNELS_SPLAT_NEIGHBOURS_H

#include "libprof/error.h"

#include <stddef.h>

/* Mean distance of each point to its three nearest neighbours (fewer where there are fewer; 0 for a
 * single point). Points must be finite, n < 2^31.
 *   points     [n][3]
 *   distances  [n] out
 * 0, -SEEP_ENOMEM. Allocates: a tree of 5 bytes a point, freed on return. */
SEEP_MUST_CHECK int seep_neighbour_distances(const float (*points)[3], size_t n, float *distances);

#endif
