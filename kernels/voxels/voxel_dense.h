/* Maps of points in a box so dense that a table of all its voxels is small: no keys to compare and
 * no partitions. */
#ifndef SEEP_KERNELS_VOXEL_DENSE_H
#define SEEP_KERNELS_VOXEL_DENSE_H

#include "kernels/voxels/voxel_groups.h"
#include "kernels/voxels/voxelize.h"

bool seep_voxel_is_dense(const struct seep_voxel_groups *g, const struct seep_voxel_box *box);

/* Called by threads 0 … n_chunks − 1 after seep_voxel_groups_survey(): fills the maps except
 * n_voxels and the last entry of voxel_start, which seep_voxel_groups_…_before() give from then on.
 * Overwrites the records. */
void seep_voxel_dense_maps(struct seep_voxel_groups *g, unsigned thread,
                           const struct seep_voxel_box *box, struct seep_voxel_maps *maps);

#endif
