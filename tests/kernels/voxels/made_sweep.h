/* A made-up sweep of a LiDAR in the middle of a yard: rings of beams that hit the ground, walls and
 * a few boxes, with noise in the range. Beams into the sky and, like a real sensor's, some others
 * come back without a point (NaN). As from a file: ring after ring, the same in every run. */
#ifndef SEEP_TESTS_KERNELS_VOXELS_MADE_SWEEP_H
#define SEEP_TESTS_KERNELS_VOXELS_MADE_SWEEP_H

#include "kernels/compute/chance.h"

#include <math.h>
#include <stddef.h>

enum { SWEEP_RINGS = 32, SWEEP_BEAMS = 940, SWEEP_POINTS = SWEEP_RINGS * SWEEP_BEAMS };

/* From the sensor's place: the ground is 1.8 m below. */
static const struct {
    double lo[3], hi[3];
} sweep_boxes[] = {
    {{4, 2, -1.8}, {8, 3.8, -0.3}},     {{-9, -5, -1.8}, {-7, -0.5, 0.2}},
    {{12, -6, -1.8}, {12.6, -5.4, 3}},  {{-3, 8, -1.8}, {3, 10.5, 1.2}},
    {{20, 10, -1.8}, {24.5, 12, -0.2}}, {{-18, 6, -1.8}, {-17.7, 6.3, 4}},
};

/* How far along `way` a box begins; INFINITY if the beam misses it. */
static inline double sweep_reach_box(const double way[3], size_t box)
{
    double from = 0, to = INFINITY;

    for (int d = 0; d < 3; d++) {
        double a = sweep_boxes[box].lo[d] / way[d], b = sweep_boxes[box].hi[d] / way[d];
        from = fmax(from, fmin(a, b));
        to = fmin(to, fmax(a, b));
    }
    return from <= to ? from : INFINITY;
}

static inline double sweep_range(const double way[3])
{
    double range = way[2] < 0 ? -1.8 / way[2] : INFINITY;

    range = fmin(range, 28 / fabs(way[0])); /* walls, four metres high */
    range = fmin(range, 19 / fabs(way[1]));
    if (range * way[2] > 2.2)
        range = INFINITY;
    for (size_t i = 0; i < sizeof sweep_boxes / sizeof *sweep_boxes; i++)
        range = fmin(range, sweep_reach_box(way, i));
    return range;
}

static inline void make_sweep(float (*points)[3])
{
    struct seep_chance chance = {20};

    for (size_t i = 0; i < SWEEP_POINTS; i++) {
        double up = -0.43 + 0.018 * (double)(i / SWEEP_BEAMS);
        double turn = 6.283185307179586 * (double)(i % SWEEP_BEAMS) / SWEEP_BEAMS + 1e-4;
        double way[3] = {cos(up) * cos(turn), cos(up) * sin(turn), sin(up)};
        double range = sweep_range(way) + 0.02 * seep_chance_normal(&chance);
        bool is_lost = !isfinite(range) || seep_chance_below(&chance, 200) == 0;
        for (int d = 0; d < 3; d++)
            points[i][d] = is_lost ? NAN : (float)(range * way[d]);
    }
}

#endif
