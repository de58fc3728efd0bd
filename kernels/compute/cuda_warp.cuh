/* What a warp comes to together: by an instruction from sm_80 on, by five shuffles before. */
#ifndef SEEP_KERNELS_CUDA_WARP_CUH
#define SEEP_KERNELS_CUDA_WARP_CUH

#include <cuda_runtime.h>

constexpr unsigned SEEP_WARP = 32, SEEP_WHOLE_WARP = ~0u;

struct seep_sum {
    __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        return a + b;
    }
};

struct seep_largest {
    __device__ unsigned operator()(unsigned a, unsigned b) const
    {
        return a > b ? a : b;
    }
};

/* `join` is associative and commutative, so that all lanes come to the same. */
template <class Join>
__device__ __forceinline__ unsigned seep_warp_by_shuffles(unsigned mine, Join join)
{
#pragma unroll
    for (unsigned distance = SEEP_WARP / 2; distance > 0; distance /= 2)
        mine = join(mine, __shfl_xor_sync(SEEP_WHOLE_WARP, mine, distance));
    return mine;
}

/* To be called by whole warps; every lane gets the result. */
__device__ __forceinline__ unsigned seep_warp_sum(unsigned mine)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return seep_warp_by_shuffles(mine, seep_sum{});
#else
    return __reduce_add_sync(SEEP_WHOLE_WARP, mine);
#endif
}

__device__ __forceinline__ unsigned seep_warp_largest(unsigned mine)
{
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
    return seep_warp_by_shuffles(mine, seep_largest{});
#else
    return __reduce_max_sync(SEEP_WHOLE_WARP, mine);
#endif
}

#endif
