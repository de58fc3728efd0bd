/* Spherical harmonics of a Gaussian's record on the device: its colour, and its coefficients
 * against a colour's gradient. A record is read in fours where it can be: 12 loads, not 48. */
#ifndef SEEP_KERNELS_SPLAT_SH_CUH
#define SEEP_KERNELS_SPLAT_SH_CUH

#include "kernels/splat/splat_cuda.cuh"
#include "kernels/splat/splat_gaussian.cuh"

/* Calls visit(k, value) for the record's first n floats, all of it unrolled. `wide`: the record
 * begins at a multiple of 16 bytes and is a multiple of four floats long. */
template <int n, class Visit>
__device__ __forceinline__ void splat_read_record(const float *record, bool wide, Visit visit)
{
    if (wide) {
#pragma unroll
        for (int k = 0; k < n; k += 4) {
            float4 v = *reinterpret_cast<const float4 *>(record + k);
            visit(k, v.x);
            if (k + 1 < n)
                visit(k + 1, v.y);
            if (k + 2 < n)
                visit(k + 2, v.z);
            if (k + 3 < n)
                visit(k + 3, v.w);
        }
    } else {
#pragma unroll
        for (int k = 0; k < n; k++)
            visit(k, record[k]);
    }
}

/* Before it is held above 0. */
template <int DEGREE>
__device__ __forceinline__ float3 splat_color(float3 direction, const float *record, bool wide)
{
    constexpr int n = (DEGREE + 1) * (DEGREE + 1);
    float Y[n], color[3] = {0.5f, 0.5f, 0.5f};

    harmonics<DEGREE>(direction, Y);
    splat_read_record<3 * n>(record, wide, [&](int k, float v) { color[k % 3] += v * Y[k / 3]; });
    return make_float3(color[0], color[1], color[2]);
}

/* What a colour's gradient g does to the mean through the direction it is seen from. `length`: to
 * the mean, > 0. */
template <int DEGREE>
__device__ __forceinline__ float3 splat_color_backward(float3 direction, float length, float3 g,
                                                       const float *record, bool wide)
{
    constexpr int n = (DEGREE + 1) * (DEGREE + 1);
    float w[n] = {}, grad[3] = {g.x, g.y, g.z};

    splat_read_record<3 * n>(record, wide, [&](int k, float v) { w[k / 3] += v * grad[k % 3]; });
    float3 free = harmonics_backward<DEGREE>(direction, w);
    return 1 / length * (free - dot(free, direction) * direction);
}

#endif
