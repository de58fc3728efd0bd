/* Spherical harmonics of a Gaussian's record on the device: its colour, and its coefficients
 * against a colour's gradient. A record is read in fours where it can be: 12 loads, not 48. */
#ifndef SEEP_KERNELS_SPLAT_SH_CUH
#define SEEP_KERNELS_SPLAT_SH_CUH

#include "kernels/splat/splat_cuda.cuh"
#include "kernels/splat/splat_gaussian.cuh"

/* From the camera's centre to the mean; *length 0: straight ahead. */
SEEP_HD float3 direction_of(const double *centre, const float *mean, float *length)
{
    float3 v = make_float3((float)(mean[0] - centre[0]), (float)(mean[1] - centre[1]),
                           (float)(mean[2] - centre[2]));

    *length = sqrtf(dot(v, v));
    return *length > 0 ? 1 / *length * v : make_float3(0, 0, 1);
}

/* Y(d), (DEGREE + 1)² of them. */
template <int DEGREE> SEEP_HD void harmonics(float3 d, float *Y)
{
    float x = d.x, y = d.y, z = d.z, xx = x * x, yy = y * y, zz = z * z;

    Y[0] = (float)SEEP_SH_0;
    if constexpr (DEGREE > 0) {
        Y[1] = -(float)SEEP_SH_1 * y;
        Y[2] = (float)SEEP_SH_1 * z;
        Y[3] = -(float)SEEP_SH_1 * x;
    }
    if constexpr (DEGREE > 1) {
        Y[4] = (float)SEEP_SH_2_0 * x * y;
        Y[5] = -(float)SEEP_SH_2_0 * y * z;
        Y[6] = (float)SEEP_SH_2_1 * (2 * zz - xx - yy);
        Y[7] = -(float)SEEP_SH_2_0 * x * z;
        Y[8] = (float)SEEP_SH_2_2 * (xx - yy);
    }
    if constexpr (DEGREE > 2) {
        Y[9] = -(float)SEEP_SH_3_0 * y * (3 * xx - yy);
        Y[10] = (float)SEEP_SH_3_1 * x * y * z;
        Y[11] = -(float)SEEP_SH_3_2 * y * (4 * zz - xx - yy);
        Y[12] = (float)SEEP_SH_3_3 * z * (2 * zz - 3 * xx - 3 * yy);
        Y[13] = -(float)SEEP_SH_3_2 * x * (4 * zz - xx - yy);
        Y[14] = (float)SEEP_SH_3_4 * z * (xx - yy);
        Y[15] = -(float)SEEP_SH_3_0 * x * (xx - 3 * yy);
    }
}

/* The gradient of sum w · Y by d, as if x, y and z were free. */
template <int DEGREE> SEEP_HD float3 harmonics_backward(float3 d, const float *w)
{
    float x = d.x, y = d.y, z = d.z, xx = x * x, yy = y * y, zz = z * z;
    float3 g = make_float3(0, 0, 0);

    if constexpr (DEGREE > 0)
        g = (float)SEEP_SH_1 * make_float3(-w[3], -w[1], w[2]);
    if constexpr (DEGREE > 1) {
        const float c0 = (float)SEEP_SH_2_0, c1 = (float)SEEP_SH_2_1, c2 = (float)SEEP_SH_2_2;
        g.x += c0 * (y * w[4] - z * w[7]) + 2 * x * (c2 * w[8] - c1 * w[6]);
        g.y += c0 * (x * w[4] - z * w[5]) - 2 * y * (c2 * w[8] + c1 * w[6]);
        g.z += 4 * c1 * z * w[6] - c0 * (y * w[5] + x * w[7]);
    }
    if constexpr (DEGREE > 2) {
        const float c0 = (float)SEEP_SH_3_0, c1 = (float)SEEP_SH_3_1, c2 = (float)SEEP_SH_3_2,
                    c3 = (float)SEEP_SH_3_3, c4 = (float)SEEP_SH_3_4;
        g.x += -6 * c0 * x * y * w[9] + c1 * y * z * w[10] + 2 * c2 * x * y * w[11] -
               6 * c3 * x * z * w[12] - c2 * (4 * zz - 3 * xx - yy) * w[13] +
               2 * c4 * x * z * w[14] - 3 * c0 * (xx - yy) * w[15];
        g.y += -3 * c0 * (xx - yy) * w[9] + c1 * x * z * w[10] -
               c2 * (4 * zz - xx - 3 * yy) * w[11] - 6 * c3 * y * z * w[12] +
               2 * c2 * x * y * w[13] - 2 * c4 * y * z * w[14] + 6 * c0 * x * y * w[15];
        g.z += c1 * x * y * w[10] - 8 * c2 * y * z * w[11] + 3 * c3 * (2 * zz - xx - yy) * w[12] -
               8 * c2 * x * z * w[13] + c4 * (xx - yy) * w[14];
    }
    return g;
}

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
