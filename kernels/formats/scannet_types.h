/* What a ScanNet scene holds, and the bytes it is read from. */
#ifndef SEEP_KERNELS_SCANNET_TYPES_H
#define SEEP_KERNELS_SCANNET_TYPES_H

#include <stddef.h>

/* What PointGroup keeps of a point: 40 bytes. */
struct seep_scannet_point {
    float xyz[3];    /* metres, centred on the mean as PointGroup does */
    float rgb[3];    /* −1 … 1 */
    double label;    /* 0 … 19: the twenty benchmark classes; −100: none of them */
    double instance; /* 0 …: its place in the aggregation; −100: none */
};

struct seep_scannet_scene {
    size_t n_points;
    struct seep_scannet_point *points;
    size_t n_instances; /* objects of the aggregation, also such that own no point */
};

/* The four files' bytes, in this order. */
enum {
    SEEP_SCANNET_FILE_MESH,
    SEEP_SCANNET_FILE_LABELS,
    SEEP_SCANNET_FILE_SEGMENTS,
    SEEP_SCANNET_FILE_OBJECTS,
    SEEP_SCANNET_FILES
};
struct seep_scannet_bytes {
    const void *bytes;
    size_t n;
};

#endif
