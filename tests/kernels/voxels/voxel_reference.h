/* The expected results of voxels/voxelize.h, by sorting. Host memory, one thread. */
#ifndef SEEP_TESTS_KERNELS_VOXELS_VOXEL_REFERENCE_H
#define SEEP_TESTS_KERNELS_VOXELS_VOXEL_REFERENCE_H

#include "kernels/voxels/voxelize.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct entry {
    int32_t coords[4];
    int32_t point, first; /* the point, and the first one of its voxel */
};

/* As the functions of that name. They allocate what they need: 0 or -SEEP_ENOMEM. */
static inline void quantize_reference(const float (*points)[3], const int32_t *batch,
                                      size_t n_points, float size, int32_t (*coords)[4],
                                      size_t *n_refused)
{
    *n_refused = 0;
    for (size_t i = 0; i < n_points; i++) {
        bool good = !batch || batch[i] >= 0;
        coords[i][0] = batch ? batch[i] : 0;
        for (int d = 0; d < 3; d++) {
            double cell = floor((double)(points[i][d] / size));
            if (cell >= -1048576.0 && cell <= 1048575.0)
                coords[i][d + 1] = (int32_t)cell;
            else
                good = false;
        }
        if (!good) {
            memset(coords[i], 0, sizeof coords[i]);
            coords[i][0] = -1;
            ++*n_refused;
        }
    }
}

static int by_coords(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    for (int d = 0; d < 4; d++)
        if (x->coords[d] != y->coords[d])
            return x->coords[d] < y->coords[d] ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

static int by_first(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;

    if (x->first != y->first)
        return x->first < y->first ? -1 : 1;
    return x->point < y->point ? -1 : x->point > y->point;
}

static inline int voxelize_reference(const int32_t (*coords)[4], size_t n_points,
                                     struct seep_voxel_maps *maps)
{
    struct entry *entries = malloc((n_points + 1) * sizeof *entries);
    size_t n = 0;

    if (!entries)
        return -SEEP_ENOMEM;
    maps->n_voxels = 0;
    for (size_t i = 0; i < n_points; i++) {
        maps->point_to_voxel[i] = -1;
        if (coords[i][0] < 0)
            continue;
        memcpy(entries[n].coords, coords[i], sizeof coords[i]);
        entries[n++].point = (int32_t)i;
    }
    qsort(entries, n, sizeof *entries, by_coords);
    for (size_t i = 0; i < n; i++) {
        bool same = i && memcmp(entries[i].coords, entries[i - 1].coords, 16) == 0;
        entries[i].first = same ? entries[i - 1].first : entries[i].point;
    }
    qsort(entries, n, sizeof *entries, by_first);
    for (size_t i = 0; i < n; i++) {
        if (i == 0 || entries[i].first != entries[i - 1].first) {
            memcpy(maps->voxel_coords[maps->n_voxels], entries[i].coords, 16);
            maps->voxel_start[maps->n_voxels++] = (int32_t)i;
        }
        maps->point_to_voxel[entries[i].point] = (int32_t)maps->n_voxels - 1;
        maps->voxel_points[i] = entries[i].point;
    }
    maps->voxel_start[maps->n_voxels] = (int32_t)n;
    free(entries);
    return 0;
}

/* What sparse_quantize must say by these maps. Arrays are allocated. */
struct sparse_wanted {
    int32_t *first, *labels, *inverse;
    size_t n_voxels;
};

static inline struct sparse_wanted sparse_reference(const struct seep_voxel_maps *maps,
                                                    const int32_t *labels, size_t n, int32_t ignore)
{
    struct sparse_wanted wanted = {malloc(n * 4), malloc(n * 4), malloc(n * 4), maps->n_voxels};

    memcpy(wanted.inverse, maps->point_to_voxel, n * 4);
    for (size_t v = 0; v < maps->n_voxels; v++) {
        const int32_t *points = maps->voxel_points + maps->voxel_start[v];
        wanted.first[v] = points[0];
        wanted.labels[v] = labels[points[0]];
        for (int32_t k = 1; k < maps->voxel_start[v + 1] - maps->voxel_start[v]; k++)
            if (labels[points[k]] != labels[points[0]])
                wanted.labels[v] = ignore;
    }
    return wanted;
}

/* In double precision. */
static inline void voxel_mean_reference(const struct seep_voxel_maps *maps, const float *features,
                                        size_t n_channels, double *voxel_features)
{
    for (size_t v = 0; v < maps->n_voxels; v++) {
        size_t begin = (size_t)maps->voxel_start[v], end = (size_t)maps->voxel_start[v + 1];
        for (size_t c = 0; c < n_channels; c++) {
            double sum = 0;
            for (size_t i = begin; i < end; i++)
                sum += (double)features[(size_t)maps->voxel_points[i] * n_channels + c];
            voxel_features[v * n_channels + c] = sum / (double)(end - begin);
        }
    }
}

#endif
