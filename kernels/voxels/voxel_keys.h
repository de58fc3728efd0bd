/* Short keys of voxels for the CPU twin: a partition, and 32 bits that identify a voxel in it. */
#ifndef SEEP_KERNELS_VOXEL_KEYS_H
#define SEEP_KERNELS_VOXEL_KEYS_H

#include "kernels/compute/chance.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { SEEP_VOXEL_MAX_PARTITION_BITS = 14 };

/* The smallest and largest coordinates of the points that are not refused; empty: lo > hi. */
struct seep_voxel_box {
    int32_t lo[4], hi[4];
};

struct seep_voxel_box seep_voxel_box_empty(void);
void seep_voxel_box_add(struct seep_voxel_box *box, const struct seep_voxel_box *other);
void seep_voxel_box_of(const int32_t (*coords)[4], size_t n, struct seep_voxel_box *box);

/* How many voxels the box has; UINT64_MAX if 2^64 or more. */
uint64_t seep_voxel_box_cells(const struct seep_voxel_box *box);

/* A key is a sum of products modulo 2^64, of which the top 32 + partition_bits bits are kept. If
 * the box has no more cells than those bits can number, the sum is the cell's number times an odd
 * constant, and keys are `exact`: equal only for equal voxels. Otherwise equal keys mean that
 * coordinates must be compared. */
struct seep_voxel_key {
    uint64_t factor[4], sum;
    unsigned partition_bits;
    bool exact;
};

/* Unless the key is exact, its factors are random, drawn once per process. So nobody can write a
 * file whose voxels all have the same key, which would take quadratic time. */
struct seep_voxel_key seep_voxel_key_for(const struct seep_voxel_box *box, unsigned partition_bits);

/* Sums of 64 bits with random factors, whatever the box is: never exact. */
struct seep_voxel_key seep_voxel_key_drawn(void);

/* Keys 0 … cells − 1 that number the cells of a box with less than 2^32 cells. */
struct seep_voxel_key seep_voxel_key_of_cells(const struct seep_voxel_box *box);

/* A source of random numbers that is the same during the whole process and known to nobody else. */
struct seep_chance seep_voxel_chance(void);

/*   keys  [n] out; UINT64_MAX for refused points */
void seep_voxel_keys(const struct seep_voxel_key *key, const int32_t (*coords)[4], size_t n,
                     uint64_t *keys);

/* 0 … 2^partition_bits − 1, or 2^partition_bits for a refused point. The low bits of a product are
 * of poor quality, so the top ones are folded in; together with seep_voxel_low() this still
 * determines the whole key. */
static inline uint32_t seep_voxel_partition(uint64_t key, unsigned partition_bits)
{
    uint64_t end = UINT64_C(1) << partition_bits;

    return (uint32_t)(((key ^ key >> 32) & (end - 1)) | (key >> 63 << partition_bits));
}

static inline uint32_t seep_voxel_low(uint64_t key, unsigned partition_bits)
{
    return (uint32_t)(key >> partition_bits);
}

#ifdef __cplusplus
}
#endif
#endif
