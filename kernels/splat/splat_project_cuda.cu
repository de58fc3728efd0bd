/* Projection on the GPU: one thread a Gaussian, colour included, then the running sum of tiles. */
#include "kernels/compute/cuda_warp.cuh"
#include "kernels/splat/splat_cuda.cuh"
#include "kernels/splat/splat_gaussian.cuh"
#include "kernels/splat/splat_sh.cuh"

#include <cub/device/device_scan.cuh>

/* Over all Gaussians. */
struct project_sums {
    unsigned long long tiles, seen;
};

struct project_arrays {
    struct seep_splat_model model;
    struct seep_splat_projected out;
    struct project_sums *sums;
    bool wide;
};

/* The first 40 bytes as two and a half vectors of four. */
__device__ __forceinline__ void splat_store_print(struct seep_splat_print *to,
                                                  const struct splat_print &print, float opacity,
                                                  float3 color)
{
    float4 *quarters = reinterpret_cast<float4 *>(to);

    quarters[0] = make_float4(print.mean.x, print.mean.y, print.roots.x, print.roots.y);
    quarters[1] = make_float4(print.roots.z, opacity, color.x, color.y);
    to->color[2] = color.z;
    to->depth = print.depth;
    splat_store_tiles(to->tiles,
                      make_ushort4(print.tiles[0], print.tiles[1], print.tiles[2], print.tiles[3]));
}

/* Tiles touched; 0: culled, and but for `tiles` nothing is written. BOX: the rule is known to be
 * that one, and the registers of the others are not taken. */
template <int DEGREE, bool BOX>
__device__ static unsigned project_one(const struct splat_view &view,
                                       const struct project_arrays &arrays, size_t i)
{
    const struct seep_splat_model &model = arrays.model;
    const struct seep_splat_projected &out = arrays.out;
    const enum seep_splat_tile_rule rule = BOX ? SEEP_SPLAT_TILES_BOX : out.rule;
    struct splat_frame frame;
    struct splat_print print;
    float rotation[4], length;
    float4 q = splat_load4(model.rotations[i]);

    rotation[0] = q.x, rotation[1] = q.y, rotation[2] = q.z, rotation[3] = q.w;
    if (!frame_of(view.camera, model.means[i], model.scales[i], rotation, &frame) ||
        !print_of(view.camera, frame, model.opacities[i], rule, &print))
        return 0;
    unsigned n_tiles =
        (unsigned)(print.tiles[2] - print.tiles[0]) * (unsigned)(print.tiles[3] - print.tiles[1]);
    if (rule == SEEP_SPLAT_TILES_REACHED) {
        const struct splat_ellipse ellipse =
            splat_ellipse_of(&print.mean.x, &print.roots.x, model.opacities[i], &view.camera);
        n_tiles = splat_count_reached(&ellipse, print.tiles);
        if (n_tiles == 0)
            return 0;
    }
    float3 direction = direction_of(view.centre, model.means[i], &length);
    const float *sh = model.sh + i * (size_t)model.sh_stride * 3;
    float3 color = splat_color<DEGREE>(direction, sh, arrays.wide);
    if (!is_finite(color))
        return 0;
    splat_store_print(&out.prints[i], print, model.opacities[i],
                      make_float3(fmaxf(color.x, 0), fmaxf(color.y, 0), fmaxf(color.z, 0)));
    return n_tiles;
}

/* Leaves the number of tiles of each in offsets, and their sum, which may not fit there, aside,
 * with the number of those that have any. */
template <int DEGREE, bool BOX>
__global__ static void __launch_bounds__(SEEP_BLOCK)
    project(const struct splat_view view, const struct project_arrays arrays)
{
    __shared__ unsigned sums[SEEP_BLOCK / 32];
    size_t i = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x;
    unsigned n_tiles = 0;

    if (i < arrays.model.n) {
        n_tiles = project_one<DEGREE, BOX>(view, arrays, i);
        if (n_tiles == 0)
            splat_store_tiles(arrays.out.prints[i].tiles, make_ushort4(0, 0, 0, 0));
        arrays.out.offsets[i] = n_tiles;
    }
    /* 256 Gaussians of at most 2^20 tiles. */
    unsigned sum = seep_warp_sum(n_tiles);
    if (threadIdx.x % 32 == 0)
        sums[threadIdx.x / 32] = sum;
    unsigned seen = (unsigned)__syncthreads_count(n_tiles != 0);
    if (threadIdx.x == 0 && seen) {
        sum = 0;
        for (unsigned k = 0; k < SEEP_BLOCK / 32; k++)
            sum += sums[k];
        atomicAdd(&arrays.sums->tiles, (unsigned long long)sum);
        atomicAdd(&arrays.sums->seen, (unsigned long long)seen);
    }
}

template <bool BOX>
static cudaError_t project_all(const struct splat_view &view, const struct project_arrays &arrays,
                               cudaStream_t stream)
{
    size_t n = arrays.model.n;

    switch (arrays.model.sh_degree) {
    case 0:
        return seep_launch(project<0, BOX>, n, stream, view, arrays);
    case 1:
        return seep_launch(project<1, BOX>, n, stream, view, arrays);
    case 2:
        return seep_launch(project<2, BOX>, n, stream, view, arrays);
    default:
        return seep_launch(project<3, BOX>, n, stream, view, arrays);
    }
}

int seep_splat_project_cuda(const struct seep_splat_camera *camera,
                            const struct seep_splat_model *model, struct seep_splat_projected *out,
                            void *scratch, size_t *scratch_bytes, struct seep_stream *stream)
{
    struct splat_scratch parts = {static_cast<char *>(scratch), 0};
    const seep_cuda_turn s(stream);
    struct project_sums *sums = splat_take<struct project_sums>(&parts, 1), got = {};
    size_t scan_bytes = 0;
    cudaError_t error = cub::DeviceScan::ExclusiveSum(
        nullptr, scan_bytes, static_cast<uint32_t *>(nullptr), static_cast<uint32_t *>(nullptr),
        (uint32_t)(model->n + 1), s);

    if (error != cudaSuccess)
        return seep_cuda_status(error);
    char *scan = splat_take<char>(&parts, scan_bytes);
    if (!scratch) {
        *scratch_bytes = parts.used;
        return 0;
    }
    if (*scratch_bytes < parts.used)
        return -SEEP_EINVAL;
    struct project_arrays arrays = {*model, *out, sums, splat_wide(model->sh, model->sh_stride)};
    error = cudaMemsetAsync(sums, 0, sizeof *sums, s);
    if (error == cudaSuccess)
        error = cudaMemsetAsync(out->offsets + model->n, 0, sizeof *out->offsets, s);
    if (error == cudaSuccess)
        error = out->rule == SEEP_SPLAT_TILES_BOX
                    ? project_all<true>(splat_view_of(camera), arrays, s)
                    : project_all<false>(splat_view_of(camera), arrays, s);
    if (error == cudaSuccess)
        error = cub::DeviceScan::ExclusiveSum(scan, scan_bytes, out->offsets, out->offsets,
                                              (uint32_t)(model->n + 1), s);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&got, sums, sizeof got, cudaMemcpyDeviceToHost, s);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(s);
    if (error != cudaSuccess)
        return seep_cuda_status(error);
    if (got.tiles > UINT32_MAX)
        return -SEEP_EINVAL;
    out->n_pairs = (size_t)got.tiles;
    out->n_seen = (size_t)got.seen;
    return 0;
}
