/* PointGroup's data set: which scenes there are, and a scene as its trainer keeps it. */
#ifndef SEEP_KERNELS_POINTGROUP_SCENES_H
#define SEEP_KERNELS_POINTGROUP_SCENES_H

#include "kernels/formats/scannet.h"

enum {
    SEEP_POINTGROUP_SCENES = 1513, /* of ScanNet v2 … */
    SEEP_POINTGROUP_TRAIN = 1201,  /* … of which for training */
    SEEP_POINTGROUP_BATCH = 4,
};

/* Points of a scene on average: the document's 11 GB of data at 40 bytes a point. */
#define SEEP_POINTGROUP_MEAN_POINTS                                                                \
    (11e9 / sizeof(struct seep_scannet_point) / SEEP_POINTGROUP_SCENES)

/* Below 1:100 scenes do not get smaller but fewer, since the fixed cost of a file would dominate.
 * points: per scene, relative to the real one; scenes: their number, likewise. Both in (0, 1]. */
struct seep_pointgroup_size {
    double points, scenes;
};
struct seep_pointgroup_size seep_pointgroup_size(double scale);

/* The room's file set of each scene; sizes spread as ScanNet's, their sum exact. */
SEEP_MUST_CHECK int seep_pointgroup_make_data(const char *folder, double scale, uint64_t seed,
                                              struct seep_error *err);

/* The same, but all scanned alike: a scene's surface is as large as its points say, at any scale. A
 * voxel has as many points as in a real scene then, and a scene as many voxels as its points. */
SEEP_MUST_CHECK int seep_pointgroup_make_rooms(const char *folder, double scale, uint64_t seed,
                                               struct seep_error *err);

struct seep_pointgroup_scene {
    struct seep_scannet_point *points; /* [n] */
    size_t n;
};

struct seep_pointgroup_scenes {
    const char *folder; /* the caller's */
    char **names; /* [n], sorted; the first n_train are for training, the others for validation */
    size_t n, n_train;
    struct seep_pointgroup_scene *loaded; /* [n]; NULL: scenes are read when they are used */
};

/* Lists the folder. -SEEP_ENODATA where it has too few scenes for a batch. */
SEEP_MUST_CHECK int seep_pointgroup_scenes_open(const char *folder,
                                                struct seep_pointgroup_scenes *out,
                                                struct seep_error *err);
void seep_pointgroup_scenes_close(struct seep_pointgroup_scenes *scenes);

/* Reads all scenes, those for validation too: trainLoader() and valLoader() of the original. */
SEEP_MUST_CHECK int seep_pointgroup_scenes_load(struct seep_pointgroup_scenes *scenes,
                                                struct seep_error *err);

/* Reads one. The caller frees out->points. */
SEEP_MUST_CHECK int seep_pointgroup_read_scene(const struct seep_pointgroup_scenes *scenes,
                                               size_t i, struct seep_pointgroup_scene *out,
                                               struct seep_error *err);

#endif
