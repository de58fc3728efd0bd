/* splat_tiles.h for the CPU's files, some of which fuse products and sums, each instruction set
 * otherwise: here it is compiled once, without. */
#ifndef SEEP_KERNELS_SPLAT_TILES_CPU_H
#define SEEP_KERNELS_SPLAT_TILES_CPU_H

#include "kernels/splat/splat_tiles.h"

/* Whether all tiles of the Gaussian's box are listed, as most often. */
static inline bool seep_splat_whole_box(const struct seep_splat_projected *projected,
                                        uint32_t gaussian)
{
    const uint16_t *t = projected->prints[gaussian].tiles;

    return projected->rule != SEEP_SPLAT_TILES_REACHED ||
           projected->offsets[gaussian + 1] - projected->offsets[gaussian] ==
               (uint32_t)(t[2] - t[0]) * (uint32_t)(t[3] - t[1]);
}

void seep_splat_ellipse(const struct seep_splat_camera *camera,
                        const struct seep_splat_print *print, struct splat_ellipse *out);

/* The ranges, the sum and the square of splat_tiles.h. */
void seep_splat_row_reached(const struct splat_ellipse *ellipse, const uint16_t tiles[4],
                            unsigned row, unsigned *first, unsigned *end);
uint32_t seep_splat_count_reached(const struct seep_splat_camera *camera,
                                  const struct seep_splat_print *print);
/*   cov  a, b, c */
bool seep_splat_square(const struct seep_splat_camera *camera, const float mean[2],
                       const float cov[3], uint16_t tiles[4]);

/* How many of the tiles that are reached come before tile x, y, row by row. */
size_t seep_splat_nth_reached(const struct seep_splat_camera *camera,
                              const struct seep_splat_print *print, unsigned x, unsigned y);

#endif
