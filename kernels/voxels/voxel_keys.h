/* Short keys of voxels for the CPU twin: a partition, and 32 bits that tell its voxels apart. */
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

/* Smallest and largest coordinate of points that are not refused; empty: lo > hi. */
struct seep_voxel_box {
    int32_t lo[4], hi[4];
};

struct seep_voxel_box seep_voxel_box_empty(void);
void seep_voxel_box_add(struct seep_voxel_box *box, const struct seep_voxel_box *other);
void seep_voxel_box_of(const int32_t (*coords)[4], size_t n, struct seep_voxel_box *box);

/* How many voxels lie in the box; UINT64_MAX where that is not less than 2^64. */
uint64_t seep_voxel_box_cells(const struct seep_voxel_box *box);

/* A key is a sum of products modulo 2^64 of which the top 32 + partition_bits are kept. Where the
 * box has no more cells than that, the sum is the cell's number times an odd constant: keys are
 * `exact`, equal only for equal voxels. Elsewhere equal keys say that coordinates must be compared.
 */
struct seep_voxel_key {
    uint64_t factor[4], sum;
    unsigned partition_bits;
    bool exact;
};

/* Factors that are not those of an exact key are drawn by chance, once a process: nobody can write
 * a file of voxels that all have the same key, which would take quadratic time. */
struct seep_voxel_key seep_voxel_key_for(const struct seep_voxel_box *box, unsigned partition_bits);

/* Keys 0 … cells − 1 that say the place in a box of less than 2^32 cells. */
struct seep_voxel_key seep_voxel_key_of_cells(const struct seep_voxel_box *box);

/* Numbers that are the same for as long as the process lives and that nobody else knows. */
struct seep_chance seep_voxel_chance(void);

/*   keys  [n] out; UINT64_MAX for refused points */
void seep_voxel_keys(const struct seep_voxel_key *key, const int32_t (*coords)[4], size_t n,
                     uint64_t *keys);

/* 0 … 2^partition_bits − 1, or 2^partition_bits for a refused point. The low bits of a product are
 * poor ones: the top ones are folded in, which together with seep_voxel_low() still says the whole
 * key. */
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
