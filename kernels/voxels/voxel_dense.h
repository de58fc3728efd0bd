/* Voxels of points in a box so dense that a table of all its voxels is small: no keys to compare
 * and no partitions. */
#ifndef SEEP_KERNELS_VOXEL_DENSE_H
#define SEEP_KERNELS_VOXEL_DENSE_H

#include "kernels/voxels/voxel_groups.h"
#include "kernels/voxels/voxelize.h"

bool seep_voxel_is_dense(unsigned n_chunks, size_t n_points, const struct seep_voxel_box *box);

/* Both are called by threads 0 … n_chunks − 1 after seep_voxel_groups_survey(), and overwrite the
 * records.
 *
 * Fills the maps except n_voxels and the last entry of voxel_start, which
 * seep_voxel_groups_…_before() give from then on. */
void seep_voxel_dense_maps(struct seep_voxel_groups *g, unsigned thread,
                           const struct seep_voxel_box *box, struct seep_voxel_maps *maps);

/* Finds the voxel of each point, and each voxel's first point. */
void seep_voxel_dense_pick(struct seep_voxel_groups *g, unsigned thread,
                           const struct seep_voxel_box *box, int32_t *voxel_of, int32_t *first);

#endif
