/* Voxels in plain C, for comparison: one pass over the points with an open-addressing hash table of
 * voxel numbers, its slots prefetched, and a counting sort. One thread; multipliers that everybody
 * may read, so points can be made up for which it takes quadratic time. */
#ifndef SEEP_KERNELS_VOXEL_BASELINE_H
#define SEEP_KERNELS_VOXEL_BASELINE_H

#include "kernels/voxels/voxelize.h"

size_t seep_voxel_baseline_bytes(size_t n_points); /* of the table */

/* As seep_voxelize(), on the host. */
void seep_voxel_baseline_maps(const int32_t (*coords)[4], size_t n_points,
                              struct seep_voxel_maps *maps, int32_t *table);

/* As seep_sparse_quantize() without labels. Returns the number of voxels.
 *   rows  [n_points] room for the coordinates of voxels */
size_t seep_voxel_baseline_quantize(const int32_t (*coords)[4], size_t n_points, int32_t *first,
                                    int32_t *inverse, int32_t (*rows)[4], int32_t *table);

#endif
