/* What the CUDA twins of splatting share: scratch, loads of four. */
#ifndef SEEP_KERNELS_SPLAT_CUDA_CUH
#define SEEP_KERNELS_SPLAT_CUDA_CUH

#include "kernels/compute/cuda_launch.cuh"
#include "kernels/splat/splat_twins.h"

enum { SPLAT_SCRATCH_ALIGNMENT = 256 };

/* Parts of a caller's scratch, one behind the other. With base NULL it only adds up. */
struct splat_scratch {
    char *base;
    size_t used;
};

template <class T> static T *splat_take(struct splat_scratch *scratch, size_t n)
{
    size_t at = scratch->used;

    scratch->used += (n * sizeof(T) + SPLAT_SCRATCH_ALIGNMENT - 1) / SPLAT_SCRATCH_ALIGNMENT *
                     SPLAT_SCRATCH_ALIGNMENT;
    return scratch->base ? reinterpret_cast<T *>(scratch->base + at) : nullptr;
}

template <class T> __device__ __forceinline__ bool splat_aligned(const T *p, unsigned bytes)
{
    return (reinterpret_cast<uintptr_t>(p) & (bytes - 1)) == 0;
}

/* Four at once where they lie so that the hardware can: callers may carve arrays as they like. */
__device__ __forceinline__ float4 splat_load4(const float *p)
{
    if (splat_aligned(p, 16))
        return *reinterpret_cast<const float4 *>(p);
    return make_float4(p[0], p[1], p[2], p[3]);
}

__device__ __forceinline__ void splat_store4(float *p, float4 v)
{
    if (splat_aligned(p, 16)) {
        *reinterpret_cast<float4 *>(p) = v;
    } else {
        p[0] = v.x;
        p[1] = v.y;
        p[2] = v.z;
        p[3] = v.w;
    }
}

/* Prints lie at multiples of 16 bytes, so their tiles at multiples of 8. */
__device__ __forceinline__ ushort4 splat_load_tiles(const uint16_t *p)
{
    return *reinterpret_cast<const ushort4 *>(p);
}

__device__ __forceinline__ void splat_store_tiles(uint16_t *p, ushort4 v)
{
    *reinterpret_cast<ushort4 *>(p) = v;
}

/* SH coefficients of a record of `stride` × 3 floats can be read in fours. */
static inline bool splat_wide(const float *sh, int stride)
{
    return stride % 4 == 0 && (reinterpret_cast<uintptr_t>(sh) & 15) == 0;
}

#endif
