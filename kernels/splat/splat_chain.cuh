/* Backward for one Gaussian by the chain rule, from its sums over pixels to its parameters, as
 * splat_twins.h states it. */
#ifndef SEEP_KERNELS_SPLAT_CHAIN_CUH
#define SEEP_KERNELS_SPLAT_CHAIN_CUH

#include "kernels/splat/splat_unproject.cuh"

/* Where a Gaussian's gradients go. `mean2d` may be NULL. */
struct splat_chain {
    float *mean, *scale, *rotation, *mean2d, *opacity;
};

/* m1' and m2' from a', b', c'. det is differentiated in its form without cancellation. */
__device__ __forceinline__ void rows_backward(const struct splat_frame &f, float3 roots,
                                              float3 roots_grad, float3 *m1_grad, float3 *m2_grad)
{
    float a_grad = roots_grad.x - roots_grad.y * f.b / f.c;
    float b_grad = -roots_grad.y * roots.x / f.c;
    float det_grad = -0.5f * a_grad * roots.x / f.det;
    float c_grad =
        (0.5f * a_grad * roots.x - roots_grad.y * roots.y - 0.5f * roots_grad.z * roots.z) / f.c;
    float3 normal = cross(f.m1, f.m2);

    *m1_grad = b_grad * f.m2 + 2 * det_grad * (cross(f.m2, normal) + SEEP_SPLAT_LOW_PASS * f.m1);
    *m2_grad = b_grad * f.m1 + 2 * c_grad * f.m2 +
               2 * det_grad * (cross(normal, f.m1) + SEEP_SPLAT_LOW_PASS * f.m2);
}

/* q' of the quaternion as given, from the gradient of its rotation. */
__device__ __forceinline__ float4 rotation_backward(const struct splat_frame &f,
                                                    const struct splat_rows &g)
{
    float w = f.unit[0], x = f.unit[1], y = f.unit[2], z = f.unit[3];
    float xy = g.row[0].y + g.row[1].x, xz = g.row[0].z + g.row[2].x, yz = g.row[1].z + g.row[2].y;
    float around_x = g.row[2].y - g.row[1].z, around_y = g.row[0].z - g.row[2].x,
          around_z = g.row[1].x - g.row[0].y;
    float d[4] = {
        2 * (x * around_x + y * around_y + z * around_z),
        2 * (y * xy + z * xz + w * around_x) - 4 * x * (g.row[1].y + g.row[2].z),
        2 * (x * xy + z * yz + w * around_y) - 4 * y * (g.row[0].x + g.row[2].z),
        2 * (x * xz + y * yz + w * around_z) - 4 * z * (g.row[0].x + g.row[1].y),
    };
    float along = d[0] * w + d[1] * x + d[2] * y + d[3] * z;
    return make_float4((d[0] - along * w) / f.length, (d[1] - along * x) / f.length,
                       (d[2] - along * y) / f.length, (d[3] - along * z) / f.length);
}

/* The compiler forgets where the number came from, so that what is worked out from it a second time
 * is, and need not be kept. */
__device__ __forceinline__ float from_nowhere(float number)
{
#ifdef __CUDACC__
    asm volatile("" : "+f"(number));
#endif
    return number;
}

/* The chain rule from the roots down to the parameters; mean_of_color: the colour's part of the
 * mean's gradient. Registers are what this is short of: each gradient is written as soon as it is
 * known, and the rotation and the Jacobian are worked out twice. */
__device__ __forceinline__ void chain_of(const struct seep_splat_camera &camera,
                                         const struct splat_frame &f, const float *scale,
                                         float opacity, float3 roots, const float *sums,
                                         float3 mean_of_color, const struct splat_chain &out)
{
    const float two_ln2 = (float)(2 * SEEP_LN2);
    float2 mean2d =
        make_float2(two_ln2 * roots.x * sums[SUM_WU],
                    two_ln2 * (roots.y * sums[SUM_WU] + roots.z * roots.z * sums[SUM_WY]));
    float3 m1_grad, m2_grad;
    float3 roots_grad =
        -two_ln2 * make_float3(sums[SUM_WUX], sums[SUM_WUY], roots.z * sums[SUM_WYY]);

    *out.opacity = sums[SUM_W] / opacity;
    if (out.mean2d) {
        out.mean2d[0] = mean2d.x;
        out.mean2d[1] = mean2d.y;
    }
    rows_backward(f, roots, roots_grad, &m1_grad, &m2_grad);
    store3(out.scale, m1_grad * f.y1 + m2_grad * f.y2);
    float3 s = load3(scale);
    float3 y1_grad = s * m1_grad, y2_grad = s * m2_grad, j1, j2;
    float z = from_nowhere(f.p.z);
    jacobian_of(camera, z, from_nowhere(f.slope_x), from_nowhere(f.slope_y), &j1, &j2);
    struct splat_rows turn_grad = {{j1.x * y1_grad + j2.x * y2_grad,
                                    j1.y * y1_grad + j2.y * y2_grad,
                                    j1.z * y1_grad + j2.z * y2_grad}};
    splat_store4(out.rotation, rotation_backward(f, turn_grad));

    /* j1 = fx/z (W0 − slope W2): by z in front, by the slope inside. */
    const float unit[4] = {from_nowhere(f.unit[0]), from_nowhere(f.unit[1]),
                           from_nowhere(f.unit[2]), from_nowhere(f.unit[3])};
    struct splat_rows turn = rotation_of(unit);
    float3 j1_grad = times(turn, y1_grad), j2_grad = times(turn, y2_grad);
    float3 axis_z = load3(camera.rotation[2]);
    float x_scale = camera.fx / z, y_scale = camera.fy / z;
    float z_grad = -(dot(j1_grad, j1) + dot(j2_grad, j2)) / z;
    /* By x/z and y/z: the mean in the picture takes them as they are, J clamped. */
    float x_grad = camera.fx * mean2d.x - (f.free_x ? x_scale * dot(j1_grad, axis_z) : 0);
    float y_grad = camera.fy * mean2d.y - (f.free_y ? y_scale * dot(j2_grad, axis_z) : 0);
    z_grad -= (x_grad * f.p.x + y_grad * f.p.y) / (z * z);
    float3 p_grad = make_float3(x_grad / z, y_grad / z, z_grad);
    store3(out.mean, mean_of_color + p_grad.x * load3(camera.rotation[0]) +
                         p_grad.y * load3(camera.rotation[1]) + p_grad.z * axis_z);
}

#endif
