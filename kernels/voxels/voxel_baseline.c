#include "kernels/voxels/voxel_baseline.h"

#include <string.h>

enum { AHEAD = 16 };

static unsigned slot_bits(size_t n)
{
    unsigned bits = 1;

    while ((size_t)1 << bits < n + n / 2)
        bits++;
    return bits;
}

size_t seep_voxel_baseline_bytes(size_t n_points)
{
    return ((size_t)1 << slot_bits(n_points)) * sizeof(int32_t);
}

static inline size_t slot_of(const int32_t c[4], unsigned bits)
{
    uint64_t key = (uint64_t)(uint32_t)c[0] << 48 ^ (uint64_t)(uint32_t)c[1] << 32 ^
                   (uint64_t)(uint32_t)c[2] << 16 ^ (uint32_t)c[3];

    return key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits);
}

/* The voxel of point i; *n_voxels if it is a new one, whose row is written. */
static inline int32_t find(const int32_t (*coords)[4], size_t n, size_t i, int32_t *table,
                           unsigned bits, int32_t (*rows)[4], size_t n_voxels)
{
    size_t slot = slot_of(coords[i], bits);

    if (i + AHEAD < n)
        __builtin_prefetch(table + slot_of(coords[i + AHEAD], bits), 1);
    while (table[slot] >= 0 && memcmp(rows[table[slot]], coords[i], sizeof coords[i]) != 0)
        slot = (slot + 1) & (((size_t)1 << bits) - 1);
    if (table[slot] < 0) {
        table[slot] = (int32_t)n_voxels;
        memcpy(rows[n_voxels], coords[i], sizeof coords[i]);
    }
    return table[slot];
}

void seep_voxel_baseline_maps(const int32_t (*coords)[4], size_t n, struct seep_voxel_maps *maps,
                              int32_t *table)
{
    int32_t *starts = maps->voxel_start, sum = 0;
    unsigned bits = slot_bits(n);
    size_t n_voxels = 0;

    memset(table, 0xff, seep_voxel_baseline_bytes(n));
    for (size_t i = 0; i < n; i++) {
        int32_t voxel = -1;
        if (coords[i][0] >= 0) {
            voxel = find(coords, n, i, table, bits, maps->voxel_coords, n_voxels);
            if ((size_t)voxel == n_voxels)
                starts[n_voxels++] = 0;
            starts[voxel]++;
        }
        maps->point_to_voxel[i] = voxel;
    }
    for (size_t v = 0; v < n_voxels; v++)
        starts[v] = sum += starts[v];
    starts[n_voxels] = sum;
    for (size_t i = n; i-- > 0;)
        if (maps->point_to_voxel[i] >= 0)
            maps->voxel_points[--starts[maps->point_to_voxel[i]]] = (int32_t)i;
    maps->n_voxels = n_voxels;
}

size_t seep_voxel_baseline_quantize(const int32_t (*coords)[4], size_t n, int32_t *first,
                                    int32_t *inverse, int32_t (*rows)[4], int32_t *table)
{
    unsigned bits = slot_bits(n);
    size_t n_voxels = 0;

    memset(table, 0xff, seep_voxel_baseline_bytes(n));
    for (size_t i = 0; i < n; i++) {
        inverse[i] = coords[i][0] < 0 ? -1 : find(coords, n, i, table, bits, rows, n_voxels);
        if (inverse[i] == (int32_t)n_voxels)
            first[n_voxels++] = (int32_t)i;
    }
    return n_voxels;
}
