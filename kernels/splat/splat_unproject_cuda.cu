/* From the sums over pixels to the gradients of the parameters: a thread a Gaussian. A record of SH
 * gradients is a product of what its thread worked out, and as large as all else; warps write
 * theirs together, in the order of memory. */
#include "kernels/splat/splat_chain.cuh"
#include "kernels/splat/splat_sh.cuh"

/* What a record of SH gradients is made of: Y(direction) and the colour's gradient. An odd number
 * of floats, so that lanes meet in no bank. */
template <int DEGREE> struct harmonics_room {
    float Y[((DEGREE + 1) * (DEGREE + 1) + 1) / 2 * 2], color_grad[3];
};

template <int DEGREE>
__device__ __forceinline__ void clear_all(const struct splat_chain &out,
                                          struct harmonics_room<DEGREE> *room)
{
    memset(room, 0, sizeof *room);
    for (int k = 0; k < 3; k++)
        out.mean[k] = out.scale[k] = out.rotation[k] = 0;
    out.rotation[3] = *out.opacity = 0;
    if (out.mean2d)
        out.mean2d[0] = out.mean2d[1] = 0;
}

/* What a Gaussian's colour says: the factors of the SH gradients, and the mean's part, which is
 * returned. */
template <int DEGREE>
__device__ __forceinline__ float3 color_one(const struct splat_view &view,
                                            const struct splat_unprojected &arrays, size_t i,
                                            struct harmonics_room<DEGREE> *room)
{
    const struct seep_splat_model &model = arrays.model;
    const float *sums = arrays.records.sums + i * arrays.records.stride + SUM_COLOR;
    const float *color = arrays.projected.prints[i].color;
    float length;
    float3 direction = direction_of(view.centre, model.means[i], &length);
    float3 grad = make_float3(color[0] > 0 ? sums[0] : 0, color[1] > 0 ? sums[1] : 0,
                              color[2] > 0 ? sums[2] : 0);

    harmonics<DEGREE>(direction, room->Y);
    store3(room->color_grad, grad);
    if (DEGREE == 0 || !(length > 0))
        return make_float3(0, 0, 0);
    return splat_color_backward<DEGREE>(direction, length, grad,
                                        model.sh + i * (size_t)model.sh_stride * 3, arrays.wide);
}

/* All gradients of Gaussian i but those of SH, of which it leaves the factors. */
template <int DEGREE>
__device__ static void chain_one(const struct splat_view &view,
                                 const struct splat_unprojected &arrays, size_t i,
                                 struct harmonics_room<DEGREE> *room)
{
    const struct seep_splat_model &model = arrays.model;
    const struct splat_chain out = {
        arrays.out.means[i], arrays.out.scales[i], arrays.out.rotations[i],
        arrays.out.means2d ? arrays.out.means2d[i] : nullptr, arrays.out.opacities + i};
    const uint32_t *offsets = arrays.projected.offsets + i;
    struct splat_frame frame;

    if (offsets[0] == offsets[1]) { /* culled, for whatever reason */
        clear_all(out, room);
        return;
    }
    float3 mean_of_color = color_one<DEGREE>(view, arrays, i, room);
    float4 q = splat_load4(model.rotations[i]);
    float rotation[4] = {q.x, q.y, q.z, q.w};
    place_of(view.camera, model.means[i], &frame);
    shape_of(view.camera, load3(model.scales[i]), rotation, &frame);
    chain_of(view.camera, frame, model.scales[i], model.opacities[i],
             load3(arrays.projected.prints[i].roots),
             arrays.records.sums + i * arrays.records.stride, mean_of_color, out);
}

/* The SH gradients of up to 32 Gaussians from `first` on, by their warp together: they are next to
 * each other in memory, culled ones and coefficients beyond the degree with zeros. */
template <int DEGREE>
__device__ static void store_harmonics(const struct harmonics_room<DEGREE> *rooms, size_t first,
                                       size_t n, unsigned stride, float *sh)
{
    unsigned length = stride * 3, record = 0, at = threadIdx.x % 32;
    unsigned records = n - first < 32 ? (unsigned)(n - first) : 32;
    float *to = sh + first * length;

    for (unsigned k = at;; k += 32, at += 32) {
        for (; at >= length; at -= length)
            record++;
        if (record >= records)
            break;
        unsigned coefficient = at / 3;
        to[k] = coefficient < (DEGREE + 1) * (DEGREE + 1)
                    ? rooms[record].Y[coefficient] * rooms[record].color_grad[at - 3 * coefficient]
                    : 0;
    }
}

template <int DEGREE>
__global__ static void __launch_bounds__(SEEP_BLOCK, 4)
    chain_to_parameters(const struct splat_view view, const struct splat_unprojected arrays)
{
    __shared__ struct harmonics_room<DEGREE> rooms[SEEP_BLOCK];
    size_t n = arrays.model.n, i = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x;
    unsigned lane = threadIdx.x % 32;

    if (i < n)
        chain_one<DEGREE>(view, arrays, i, &rooms[threadIdx.x]);
    /* The warp's records have been read, and its rooms are filled. */
    __syncwarp();
    if (i - lane < n)
        store_harmonics<DEGREE>(&rooms[threadIdx.x - lane], i - lane, n,
                                (unsigned)arrays.model.sh_stride, arrays.out.sh);
}

cudaError_t seep_splat_unproject_cuda(const struct splat_view &view,
                                      const struct splat_unprojected &arrays, cudaStream_t stream)
{
    size_t n = arrays.model.n;

    switch (arrays.model.sh_degree) {
    case 0:
        return seep_launch(chain_to_parameters<0>, n, stream, view, arrays);
    case 1:
        return seep_launch(chain_to_parameters<1>, n, stream, view, arrays);
    case 2:
        return seep_launch(chain_to_parameters<2>, n, stream, view, arrays);
    default:
        return seep_launch(chain_to_parameters<3>, n, stream, view, arrays);
    }
}
