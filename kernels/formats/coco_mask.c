#include "kernels/formats/coco.h"

#include <math.h>
#include <string.h>

enum { INSIDE = 1, CROSSED = 2 };

/* The first pixel whose centre lies at `at` or after it, within 0 … n. NaN is 0. */
static size_t first_centre(double at, size_t n)
{
    double pixel = ceil(at - 0.5);

    return pixel > 0 ? pixel < (double)n ? (size_t)pixel : n : 0;
}

struct span {
    size_t begin, end;
};

/* Marks the first pixel after each crossing of the edge with a row of centres. */
static void mark_edge(const double *from, const double *to, uint32_t width, uint32_t height,
                      uint8_t *mask, struct span *rows)
{
    if (from[1] > to[1]) {
        const double *other = from;
        from = to;
        to = other;
    }
    size_t begin = first_centre(from[1], height), end = first_centre(to[1], height);
    if (begin >= end)
        return;
    double slope = (to[0] - from[0]) / (to[1] - from[1]);
    for (size_t y = begin; y < end; y++) {
        size_t x = first_centre(from[0] + ((double)y + 0.5 - from[1]) * slope, width);
        if (x < width)
            mask[y * width + x] ^= CROSSED;
    }
    if (begin < rows->begin)
        rows->begin = begin;
    if (end > rows->end)
        rows->end = end;
}

static void fill_ring(const double (*xy)[2], size_t n, uint32_t width, uint32_t height,
                      uint8_t *mask)
{
    struct span rows = {height, 0};

    for (size_t i = 0; i < n; i++)
        mark_edge(xy[i], xy[i + 1 < n ? i + 1 : 0], width, height, mask, &rows);
    for (size_t y = rows.begin; y < rows.end; y++) {
        uint8_t *row = mask + y * width;
        unsigned crossed = 0;
        for (uint32_t x = 0; x < width; x++) {
            crossed ^= row[x] & CROSSED;
            row[x] = (uint8_t)((row[x] & INSIDE) | crossed / CROSSED);
        }
    }
}

static int fill_runs(const uint32_t *runs, size_t n, uint32_t width, uint32_t height, uint8_t *mask)
{
    uint64_t total = 0, pixels = (uint64_t)width * height;
    size_t x = 0, y = 0;

    for (size_t i = 0; i < n; i++) {
        total += runs[i];
        if (total > pixels)
            return -SEEP_EFORMAT;
    }
    if (total != pixels)
        return -SEEP_EFORMAT;
    for (size_t i = 0; i < n; i++) {
        if (i % 2 == 0) {
            uint64_t at = (uint64_t)x * height + y + runs[i];
            x = (size_t)(at / height);
            y = (size_t)(at % height);
            continue;
        }
        for (uint32_t left = runs[i]; left; left--) {
            mask[y * width + x] = INSIDE;
            if (++y == height) {
                y = 0;
                x++;
            }
        }
    }
    return 0;
}

int seep_coco_mask(const struct seep_coco_annotation *annotation, uint32_t width, uint32_t height,
                   uint8_t *mask)
{
    if (!width || !height)
        return -SEEP_EINVAL;
    memset(mask, 0, (size_t)width * height);
    if (annotation->n_runs)
        return fill_runs(annotation->runs, annotation->n_runs, width, height, mask);
    for (size_t i = 0; i < annotation->n_rings; i++) {
        size_t from = annotation->ring_starts[i];
        fill_ring((const double(*)[2])annotation->xy + from, annotation->ring_starts[i + 1] - from,
                  width, height, mask);
    }
    return 0;
}
