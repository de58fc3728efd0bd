/* A ScanNet scene (Dai et al., CVPR 2017), as it lies on disk:
 *   NAME_vh_clean_2.ply                       vertices: xyz f32, rgba u8
 *   NAME_vh_clean_2.labels.ply                the same vertices with `label` u16 (nyu40)
 *   NAME_vh_clean_2.0.010000.segs.json        segment of each vertex
 *   NAME.aggregation.json  (or NAME_vh_clean.aggregation.json)   segments of each object
 */
#ifndef SEEP_KERNELS_SCANNET_H
#define SEEP_KERNELS_SCANNET_H

#include "libprof/error.h"

#include <stddef.h>
#include <stdint.h>

/* What PointGroup keeps of a point: 40 bytes. */
struct seep_scannet_point {
    float xyz[3]; /* metres, centred on the mean as PointGroup does */
    float rgb[3]; /* −1 … 1 */
    double label;    /* 0 … 19: the twenty benchmark classes; −100: none of them */
    double instance; /* 0 …; −100: none */
};

struct seep_scannet_scene {
    size_t n_points;
    struct seep_scannet_point *points;
    size_t n_instances;
};

/* Reads scene `name` of `folder`. Without label files (a test scan) all labels are −100. */
SEEP_MUST_CHECK int seep_scannet_read(const char *folder, const char *name,
                                      struct seep_scannet_scene **out, struct seep_error *err);
/* A made-up room in the four files: floor, walls and boxes, each box an object. */
SEEP_MUST_CHECK int seep_scannet_write_room(const char *folder, const char *name, size_t n_points,
                                            uint64_t seed, struct seep_error *err);
void seep_scannet_free(struct seep_scannet_scene *scene);

/* Names of the scenes in a folder, sorted; free() each and the array. */
SEEP_MUST_CHECK int seep_scannet_list(const char *folder, char ***names, size_t *n,
                                      struct seep_error *err);

#endif
