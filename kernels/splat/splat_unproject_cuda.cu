/* From the sums over pixels to the gradients of the parameters: a thread a Gaussian. A record of SH
 * gradients is a product of what its thread worked out, and as large as all else; warps write
 * theirs together, in the order of memory. */
#include "kernels/splat/splat_unproject.cuh"

#include "kernels/splat/splat_sh.cuh"

/* What a record of SH gradients is made of: Y(direction) and the colour's gradient. An odd number
 * of floats, so that lanes meet in no bank. */
template <int DEGREE> struct harmonics_room {
    float Y[((DEGREE + 1) * (DEGREE + 1) + 1) / 2 * 2], color_grad[3];
};

__device__ static void store_chain(const struct seep_splat_gradients &out, size_t i,
                                   const struct splat_chain &chain)
{
    store3(out.means[i], chain.mean);
    store3(out.scales[i], chain.scale);
    splat_store4(out.rotations[i], make_float4(chain.rotation[0], chain.rotation[1],
                                               chain.rotation[2], chain.rotation[3]));
    out.opacities[i] = chain.opacity;
    if (out.means2d) {
        out.means2d[i][0] = chain.mean2d.x;
        out.means2d[i][1] = chain.mean2d.y;
    }
}

/* All gradients of Gaussian i but those of SH, of which it leaves the factors. */
template <int DEGREE>
__device__ static void chain_one(const struct splat_view &view,
                                 const struct splat_unprojected &arrays, size_t i,
                                 struct harmonics_room<DEGREE> *room)
{
    const struct seep_splat_model &model = arrays.model;
    const uint32_t *offsets = arrays.projected.offsets + i;
    struct splat_chain chain = {};
    struct splat_frame frame;
    float4 q = splat_load4(model.rotations[i]);
    float rotation[4] = {q.x, q.y, q.z, q.w}, sums[SPLAT_SUMS], length;

    room->color_grad[0] = room->color_grad[1] = room->color_grad[2] = 0;
    for (int k = 0; k < (DEGREE + 1) * (DEGREE + 1); k++)
        room->Y[k] = 0;
    if (offsets[0] != offsets[1] &&
        frame_of(view.camera, model.means[i], model.scales[i], rotation, &frame)) {
        for (int k = 0; k < SPLAT_SUMS; k++)
            sums[k] = arrays.records.sums[i * arrays.records.stride + (size_t)k];
        const float *color = arrays.projected.colors[i];
        float3 color_grad =
            make_float3(color[0] > 0 ? sums[SUM_COLOR] : 0, color[1] > 0 ? sums[SUM_COLOR + 1] : 0,
                        color[2] > 0 ? sums[SUM_COLOR + 2] : 0);
        float3 direction = direction_of(view.centre, model.means[i], &length);
        chain_of(view.camera, frame, model.scales[i], model.opacities[i],
                 load3(arrays.projected.roots[i]), sums, &chain);
        if (DEGREE > 0 && length > 0)
            chain.mean = chain.mean + splat_color_backward<DEGREE>(
                                          direction, length, color_grad,
                                          model.sh + i * (size_t)model.sh_stride * 3, arrays.wide);
        harmonics<DEGREE>(direction, room->Y);
        store3(room->color_grad, color_grad);
    }
    store_chain(arrays.out, i, chain);
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
__global__ static void __launch_bounds__(SEEP_BLOCK)
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
