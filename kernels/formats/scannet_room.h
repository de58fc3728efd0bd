/* A made-up scene, between its geometry and its files. */
#ifndef SEEP_KERNELS_SCANNET_ROOM_H
#define SEEP_KERNELS_SCANNET_ROOM_H

#include "libprof/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum {
    SEEP_ROOM_BOXES = 6, /* the last but one of no class, the last no object either */
    SEEP_ROOM_SURFACES = 1 + 4 + 5 * SEEP_ROOM_BOXES, /* floor, walls, five sides of each box */
};

struct seep_room_surface {
    double origin[3], u[3], v[3]; /* corner and sides, metres */
    uint16_t label;               /* nyu40 */
    int object;                   /* −1: none */
    uint8_t rgb[3];
    size_t begin, end, columns; /* vertices, in rows of `columns` */
};

struct seep_room {
    uint64_t random;
    struct seep_room_surface surfaces[SEEP_ROOM_SURFACES];
    int n_surfaces, n_objects;
    size_t n;
    float *xyz[3];
    uint8_t *rgba[4];
    uint16_t *labels;
    uint32_t *segments; /* a segment's number is its first vertex's */
    int32_t *triangles; /* [3 * n_triangles] */
    size_t *starts;     /* [n_triangles + 1] */
    size_t n_triangles;
};

/* A room of n vertices (1 or more, 3 n below 2^31), `sides` times as long, wide and high as a usual
 * one of some metres. -SEEP_ENOMEM; _fini also then. */
SEEP_MUST_CHECK int seep_room_init(struct seep_room *room, size_t n, double sides, uint64_t seed);
void seep_room_fini(struct seep_room *room);

#endif
