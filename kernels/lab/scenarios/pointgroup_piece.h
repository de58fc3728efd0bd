/* One scene of a batch: augmented, distorted, cropped, in voxels; its colours shifted. */
#ifndef SEEP_KERNELS_POINTGROUP_PIECE_H
#define SEEP_KERNELS_POINTGROUP_PIECE_H

#include "kernels/compute/chance.h"
#include "kernels/lab/scenarios/pointgroup_scenes.h"

#include <stdbool.h>

enum { SEEP_POINTGROUP_POINT_BYTES = 112 };

/* Arrays of n points in one block. */
struct seep_pointgroup_points {
    int64_t (*locs)[4]; /* scene of the batch, voxel x, y, z */
    int64_t *labels, *instances;
    float (*xyz)[3], (*feats)[3];
    float (*info)[9]; /* of the point's instance: centre, least and greatest coordinates */
    int32_t *voxel;   /* p2v_map; −1 where a point has no voxel */
};

/* Where the arrays lie in a block of n × POINT_BYTES, 8-byte aligned. */
void seep_pointgroup_place_points(struct seep_pointgroup_points *points, void *block, size_t n);

struct seep_pointgroup_piece {
    size_t index; /* in its batch */
    size_t n, n_instances;
    void *block;                     /* the caller frees it */
    struct seep_pointgroup_points p; /* all but `voxel` are filled */
};

/* How scenes become pieces. */
struct seep_pointgroup_cut {
    size_t max_points; /* of a scene: larger ones are cropped */
    double voxel;      /* edge, metres */
    bool validates;    /* valMerge(): flips and turns only */
};

/* The scene as number `index` of its batch; `chance` makes the augmentation. 0, -SEEP_ENOMEM;
 * out->block is to be freed in any case. */
SEEP_MUST_CHECK int seep_pointgroup_collate_scene(const struct seep_pointgroup_scene *scene,
                                                  size_t index,
                                                  const struct seep_pointgroup_cut *cut,
                                                  struct seep_chance *chance,
                                                  struct seep_pointgroup_piece *out);

#endif
