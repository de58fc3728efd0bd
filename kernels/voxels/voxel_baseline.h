/* Voxels in the usual implementation, for comparison: single-threaded, the layout of
 * std::unordered_map (a heap node per key, chained in buckets that double at load 1), and a growing
 * heap vector per voxel. */
#ifndef SEEP_KERNELS_VOXEL_BASELINE_H
#define SEEP_KERNELS_VOXEL_BASELINE_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>

struct seep_voxel_baseline;

/* No point may be a refused one. Returns 0 or -SEEP_ENOMEM. */
SEEP_MUST_CHECK int seep_voxel_baseline_create(const int32_t (*coords)[4], size_t n_points,
                                               int32_t *point_to_voxel,
                                               struct seep_voxel_baseline **out);
size_t seep_voxel_baseline_count(const struct seep_voxel_baseline *baseline);
void seep_voxel_baseline_destroy(struct seep_voxel_baseline *baseline); /* NULL: does nothing */

#endif
