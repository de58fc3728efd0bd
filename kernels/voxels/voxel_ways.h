/* The ways in which the CPU twin groups points, and which of them is the fastest for an input. All
 * give the same results. */
#ifndef SEEP_KERNELS_VOXEL_WAYS_H
#define SEEP_KERNELS_VOXEL_WAYS_H

#include "kernels/voxels/voxel_in_order.h"
#include "kernels/voxels/voxelize.h"

enum seep_voxel_way {
    SEEP_VOXEL_CHOSEN, /* seep_voxel_choose() */
    /* One thread, voxel_in_order.h. */
    SEEP_VOXEL_CELLS,
    SEEP_VOXEL_NARROW,
    SEEP_VOXEL_WIDE,
    /* All threads: voxel_dense.h, voxel_groups.h. */
    SEEP_VOXEL_COUNTED,
    SEEP_VOXEL_PARTITIONS,
    SEEP_VOXEL_N_WAYS,
};

extern const char *const seep_voxel_way_names[SEEP_VOXEL_N_WAYS];

/* Whether the points are so many that a table of all cells of their box is worth it: in order, or
 * counted by one thread, which takes a smaller box. */
bool seep_voxel_cells_fit(const struct seep_voxel_box *box, size_t n);
bool seep_voxel_is_counted(const struct seep_voxel_box *box, size_t n);

/* The fastest way for one thread. *box: the box of all points; empty if the way needs none, or all
 * are refused. `with_lists`: maps are made, not only numbers. */
enum seep_voxel_way seep_voxel_choose(const int32_t (*coords)[4], size_t n, bool with_lists,
                                      struct seep_voxel_box *box);

/* The way to go if `wanted` is wanted. Chooses if asked to; says SEEP_VOXEL_PARTITIONS where a
 * table of cells in order would be too large. SEEP_VOXEL_COUNTED still depends on the box, which
 * several threads look at together. Sets *box as above. */
enum seep_voxel_way seep_voxel_way_for(enum seep_voxel_way wanted, const int32_t (*coords)[4],
                                       size_t n, unsigned n_threads, bool with_lists,
                                       struct seep_voxel_box *box);

static inline bool seep_voxel_is_in_order(enum seep_voxel_way way)
{
    return way == SEEP_VOXEL_CELLS || way == SEEP_VOXEL_NARROW || way == SEEP_VOXEL_WIDE;
}

/* The number of voxels. */
size_t seep_voxel_order_run(enum seep_voxel_way way, const struct seep_voxel_order *order,
                            const struct seep_voxel_box *box);

/* As the functions of voxels/voxelize.h on a CPU stream, in the given way. Where a table of cells
 * would be too large, SEEP_VOXEL_PARTITIONS. */
SEEP_MUST_CHECK int seep_voxelize_by(enum seep_voxel_way way, const int32_t (*coords)[4],
                                     size_t n_points, struct seep_voxel_maps *maps, void *scratch,
                                     struct seep_stream *stream);
SEEP_MUST_CHECK int seep_sparse_quantize_by(enum seep_voxel_way way, const int32_t (*coords)[4],
                                            const int32_t *labels, size_t n_points,
                                            int32_t ignore_label, int32_t *first,
                                            int32_t *voxel_labels, int32_t *inverse,
                                            size_t *n_voxels, void *scratch,
                                            struct seep_stream *stream);

#endif
