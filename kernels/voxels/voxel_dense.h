/* Maps of points that fill a box so densely that a table of all its voxels is small: no keys to
 * compare, no partitions. */
#ifndef SEEP_KERNELS_VOXEL_DENSE_H
#define SEEP_KERNELS_VOXEL_DENSE_H

#include "kernels/voxels/voxel_groups.h"
#include "kernels/voxels/voxelize.h"

bool seep_voxel_is_dense(const struct seep_voxel_groups *g, const struct seep_voxel_box *box);

/* By threads 0 … n_chunks − 1 after seep_voxel_groups_survey(): fills the maps but for n_voxels and
 * the last entry of voxel_start; these two seep_voxel_groups_…_before() say from then on. The room
 * of the records is used up. */
void seep_voxel_dense_maps(struct seep_voxel_groups *g, unsigned thread,
                           const struct seep_voxel_box *box, struct seep_voxel_maps *maps);

#endif
