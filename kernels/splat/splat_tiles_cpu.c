#pragma GCC optimize("fp-contract=off")

#include "kernels/splat/splat_tiles_cpu.h"

void seep_splat_ellipse(const struct seep_splat_camera *camera,
                        const struct seep_splat_print *print, struct splat_ellipse *out)
{
    *out = splat_ellipse_of(print->mean, print->roots, print->opacity, camera);
}

void seep_splat_row_reached(const struct splat_ellipse *ellipse, const uint16_t tiles[4],
                            unsigned row, unsigned *first, unsigned *end)
{
    splat_row_reached(ellipse, tiles, row, first, end);
}

uint32_t seep_splat_count_reached(const struct seep_splat_camera *camera,
                                  const struct seep_splat_print *print)
{
    struct splat_ellipse ellipse;

    seep_splat_ellipse(camera, print, &ellipse);
    return splat_count_reached(&ellipse, print->tiles);
}

bool seep_splat_square(const struct seep_splat_camera *camera, const float mean[2],
                       const float cov[3], uint16_t tiles[4])
{
    return splat_square(mean, cov[0], cov[1], cov[2], camera->width, camera->height, tiles);
}

size_t seep_splat_nth_reached(const struct seep_splat_camera *camera,
                              const struct seep_splat_print *print, unsigned x, unsigned y)
{
    struct splat_ellipse ellipse;
    size_t n = 0;
    unsigned first, end;

    seep_splat_ellipse(camera, print, &ellipse);
    for (unsigned row = print->tiles[1]; row < y; row++) {
        splat_row_reached(&ellipse, print->tiles, row, &first, &end);
        n += end - first;
    }
    splat_row_reached(&ellipse, print->tiles, y, &first, &end);
    return n + x - first;
}
