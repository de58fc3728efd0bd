/* Numbers voxels by going through the points in order, with one thread and one table: no points are
 * moved. Three tables, which of them is fastest depends on the points (voxel_ways.h):
 *   cells   a number for each cell of the box, no keys
 *   narrow  4 bytes a slot: some bits of a hash and the voxel's number. Equal bits mean that
 *           coordinates must be compared, so it is for points with mostly a voxel of their own
 *   wide    8 bytes a slot: the key and the number; nothing to compare if keys are exact */
#ifndef SEEP_KERNELS_VOXEL_IN_ORDER_H
#define SEEP_KERNELS_VOXEL_IN_ORDER_H

#include "kernels/voxels/voxel_keys.h"

struct seep_voxel_order {
    const int32_t (*coords)[4];
    size_t n;
    void *table;                /* at least seep_voxel_…_bytes() long */
    int32_t *voxel_of;          /* [n] out; −1 if the point was refused */
    int32_t (*voxel_coords)[4]; /* [n] room; not filled by cells if counts is NULL */
    int32_t *counts;            /* [n + 1] room: points of each voxel; or NULL … */
    int32_t *first;             /* … and [n] room: each voxel's first point */
};

/* Return the number of voxels. The box is that of all points. */
size_t seep_voxel_order_by_cells(const struct seep_voxel_order *o,
                                 const struct seep_voxel_box *box);
size_t seep_voxel_order_narrow(const struct seep_voxel_order *o);
size_t seep_voxel_order_wide(const struct seep_voxel_order *o, const struct seep_voxel_box *box);

/* Sizes of tables. That of cells is 4 bytes for each. At most n voxels fit into the others. */
static inline size_t seep_voxel_narrow_bytes(size_t n)
{
    return (2 * n + n / 2 + 1) * sizeof(uint32_t);
}

static inline size_t seep_voxel_wide_bytes(size_t n)
{
    return (n + n / 4 + 1) * sizeof(uint64_t);
}

/* Turns counts of `n_voxels` into starts, and lists the points of each voxel: [points that are not
 * refused]. */
void seep_voxel_order_list(const struct seep_voxel_order *o, size_t n_voxels,
                           int32_t *voxel_points);

#endif
