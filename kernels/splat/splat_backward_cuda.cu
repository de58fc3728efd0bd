/* Backward on the GPU. First a block a tile, back to front: each warp adds up what its pixels say
 * of a Gaussian, the block adds up its warps' sums in shared memory, and adds nine of them to the
 * Gaussian's record: nine global atomics a pair of Gaussian and tile, next to each other, however
 * many warps see it. splat_unproject_cuda.cu goes on from there.
 *
 * A record lies where the Gaussian's SH gradient will, which is at least as large from degree 1
 * on, and is read before that is written: backward takes no memory of its own. */
#include "kernels/compute/cuda_warp.cuh"
#include "kernels/splat/splat_tile.cuh"
#include "kernels/splat/splat_unproject.cuh"

struct backward_pixel {
    float transmittance;    /* behind the Gaussian at hand */
    float behind;           /* what lies behind it, weighed by the image's gradient */
    float red, green, blue; /* the image's gradient */
    uint32_t last;
};

/* Adds up eight values over the warp. Each of the first three steps halves the values a lane holds
 * instead of adding all eight five times: 9 shuffles, not 40. Lane l returns the sum of v[l / 4].
 */
__device__ __forceinline__ float warp_sums_of_8(const float *v)
{
    const unsigned all = (unsigned)ALL_LANES;
    unsigned lane = threadIdx.x % 32;
    bool upper = lane & 16;
    float four[4], two[2], one;

#pragma unroll
    for (int k = 0; k < 4; k++)
        four[k] = (upper ? v[k + 4] : v[k]) + __shfl_xor_sync(all, upper ? v[k] : v[k + 4], 16);
    upper = lane & 8;
#pragma unroll
    for (int k = 0; k < 2; k++)
        two[k] = (upper ? four[k + 2] : four[k]) +
                 __shfl_xor_sync(all, upper ? four[k] : four[k + 2], 8);
    upper = lane & 4;
    one = (upper ? two[1] : two[0]) + __shfl_xor_sync(all, upper ? two[0] : two[1], 4);
    one += __shfl_xor_sync(all, one, 2);
    return one + __shfl_xor_sync(all, one, 1);
}

__device__ __forceinline__ float warp_sum(float v)
{
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2)
        v += __shfl_xor_sync((unsigned)ALL_LANES, v, distance);
    return v;
}

/* A batch on its way back, in shared memory. */
struct backward_batch {
    struct tile_batch tile;
    float sums[SEEP_BLOCK * SPLAT_SUMS]; /* slot by slot; 0 when the batch begins */
};

/* To be called by whole warps. The lanes that hold a sum add it in one go, next to each other. */
__device__ __forceinline__ void add_to_slot(float *slot, const float *v)
{
    unsigned lane = threadIdx.x % 32;
    float sum = warp_sums_of_8(v), ninth = warp_sum(v[8]);
    bool of_eight = lane % 4 == 0;

    if (of_eight || lane == 1)
        atomicAdd(&slot[of_eight ? lane / 4 : 8], of_eight ? sum : ninth);
}

/* To be called by the whole block, with barriers before and behind: adds the batch's sums to the
 * records of its Gaussians and sets them back to 0. Lanes are next to each other in a record. Not
 * unrolled: the registers for that would cost one block of six on sm_80. */
__device__ __forceinline__ void add_to_records(float *sums, const uint32_t *gaussians,
                                               const struct splat_records &records)
{
#pragma unroll 1
    for (unsigned k = threadIdx.x; k < SEEP_BLOCK * SPLAT_SUMS; k += SEEP_BLOCK) {
        float sum = sums[k];
        if (sum == 0) /* of nobody, as most often, or nothing to add */
            continue;
        sums[k] = 0;
        atomicAdd(records.sums + gaussians[k / SPLAT_SUMS] * records.stride + k % SPLAT_SUMS, sum);
    }
}

/* One Gaussian over one pixel: its nine addends, and the pixel as it is in front of it. */
__device__ __forceinline__ void step_back(struct backward_pixel *pixel, const struct tile_sample &s,
                                          float red, float green, float blue, float *v)
{
    float alpha = fminf(s.alpha, SEEP_SPLAT_MAX_ALPHA);
    float undo = __fdividef(1, 1 - alpha);
    float in_front = pixel->transmittance * undo;
    float weight = alpha * in_front;
    float seen = red * pixel->red + green * pixel->green + blue * pixel->blue;
    float w = s.alpha > SEEP_SPLAT_MAX_ALPHA ? 0 : alpha * (in_front * seen - pixel->behind * undo);

    pixel->behind += weight * seen;
    pixel->transmittance = in_front;
    v[SUM_W] = w;
    v[SUM_WU] = w * s.u;
    v[SUM_WY] = w * s.dy;
    v[SUM_WUX] = v[SUM_WU] * s.dx;
    v[SUM_WUY] = v[SUM_WU] * s.dy;
    v[SUM_WYY] = v[SUM_WY] * s.dy;
    v[SUM_COLOR] = weight * pixel->red;
    v[SUM_COLOR + 1] = weight * pixel->green;
    v[SUM_COLOR + 2] = weight * pixel->blue;
}

/* One batch: slot k holds entry top − 1 − k of the tile's list. `warp_last`: entries from there on
 * were blended by no pixel of the warp. */
__device__ static void go_back_over(struct backward_batch *back, const struct tile_place &place,
                                    uint32_t top, uint32_t warp_last, struct backward_pixel *pixel)
{
    float x = (float)place.x + 0.5f, y = (float)place.y + 0.5f;
    const struct tile_batch *batch = &back->tile;
    const uint32_t *touched = batch->touched[threadIdx.x / 32];
    uint32_t skipped = top > warp_last ? top - warp_last : 0;

    for (uint32_t word = skipped / 32; word < SEEP_BLOCK / 32; word++) {
        uint32_t bits = touched[word];
        if (word == skipped / 32)
            bits &= ~0u << skipped % 32;
        for (; bits; bits &= bits - 1) {
            uint32_t slot = word * 32 + (uint32_t)__ffs((int)bits) - 1;
            float4 look = batch->look[slot];
            struct tile_sample s = tile_sample_at(batch->shape[slot], look, x, y);
            bool blended = top - 1 - slot < pixel->last && s.alpha >= SEEP_SPLAT_MIN_ALPHA;
            if (!__any_sync((unsigned)ALL_LANES, blended))
                continue;
            float v[SPLAT_SUMS] = {};
            if (blended)
                step_back(pixel, s, look.z, look.w, batch->blue[slot], v);
            add_to_slot(back->sums + slot * SPLAT_SUMS, v);
        }
    }
}

__device__ static struct backward_pixel pixel_behind_all(const struct splat_view &view,
                                                         const struct tile_place &place,
                                                         const struct seep_splat_picture &picture,
                                                         const float *image_grad)
{
    struct backward_pixel pixel = {1, 0, 0, 0, 0, 0};

    if (place.inside) {
        const float *background = view.camera.background, *grad = image_grad + place.pixel * 3;
        pixel.red = grad[0], pixel.green = grad[1], pixel.blue = grad[2];
        pixel.transmittance = picture.transmittance[place.pixel];
        pixel.behind =
            pixel.transmittance *
            (background[0] * pixel.red + background[1] * pixel.green + background[2] * pixel.blue);
        pixel.last = picture.last[place.pixel];
    }
    return pixel;
}

__global__ static void __launch_bounds__(SEEP_BLOCK)
    sum_over_pixels(const struct splat_view view, const struct tile_arrays arrays,
                    const struct seep_splat_picture picture, const float *image_grad,
                    const struct splat_records records)
{
    __shared__ struct backward_batch batch;
    /* By turns: who is done with a batch may fill the next while others still add its sums. */
    __shared__ uint32_t gaussians[2][SEEP_BLOCK], lasts[TILE_WARPS];
    struct tile_place place = tile_place_of(view);
    const uint32_t *list = arrays.gaussians + arrays.tile_start[blockIdx.x];
    struct backward_pixel pixel = pixel_behind_all(view, place, picture, image_grad);
    uint32_t warp_last = seep_warp_largest(pixel.last), top = 0;

    if (threadIdx.x % 32 == 0)
        lasts[threadIdx.x / 32] = warp_last;
    for (unsigned k = threadIdx.x; k < SEEP_BLOCK * SPLAT_SUMS; k += SEEP_BLOCK)
        batch.sums[k] = 0;
    __syncthreads();
    for (int k = 0; k < TILE_WARPS; k++)
        top = max(top, lasts[k]);
    for (unsigned turn = 0; top > 0; turn ^= 1) {
        bool there = threadIdx.x < top;
        uint32_t gaussian = there ? list[top - 1 - threadIdx.x] : 0;
        gaussians[turn][threadIdx.x] = gaussian;
        tile_fill(&batch.tile, arrays, place, there, gaussian);
        __syncthreads();
        go_back_over(&batch, place, top, warp_last, &pixel);
        __syncthreads();
        add_to_records(batch.sums, gaussians[turn], records);
        top -= top < SEEP_BLOCK ? top : SEEP_BLOCK;
    }
}

/* Culled Gaussians' records are neither added to nor read. */
__global__ static void __launch_bounds__(SEEP_BLOCK)
    clear_records(const struct splat_records records, const uint32_t *offsets, size_t n)
{
    size_t i = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x;

    if (i < n && offsets[i] != offsets[i + 1])
        for (int k = 0; k < SPLAT_SUMS; k++)
            records.sums[i * records.stride + (size_t)k] = 0;
}

int seep_splat_backward_cuda(const struct seep_splat_camera *camera,
                             const struct seep_splat_model *model,
                             const struct seep_splat_projected *projected,
                             const struct seep_splat_bins *bins,
                             const struct seep_splat_picture *picture, const float *image_grad,
                             struct seep_splat_gradients *out, void *scratch, size_t *scratch_bytes,
                             struct seep_stream *stream)
{
    struct splat_view view = splat_view_of(camera);
    struct splat_scratch parts = {static_cast<char *>(scratch), 0};
    bool in_place = model->sh_stride * 3 >= SPLAT_SUMS;
    float *aside = splat_take<float>(&parts, in_place ? 1 : model->n * SPLAT_SUMS);
    size_t blocks = (size_t)view.tiles_x * (size_t)view.tiles_y;
    const seep_cuda_turn s(stream);

    if (!scratch) {
        *scratch_bytes = parts.used;
        return 0;
    }
    if (*scratch_bytes < parts.used)
        return -SEEP_EINVAL;
    struct splat_records records = {in_place ? out->sh : aside,
                                    in_place ? (size_t)model->sh_stride * 3 : (size_t)SPLAT_SUMS};
    struct splat_unprojected chain = {*model, *projected, *out, records,
                                      splat_wide(model->sh, model->sh_stride)};
    cudaError_t error = seep_launch(clear_records, model->n, s, records,
                                    static_cast<const uint32_t *>(projected->offsets), model->n);
    if (error == cudaSuccess && projected->n_pairs > 0)
        error = seep_launch(sum_over_pixels, blocks * SEEP_BLOCK, s, view,
                            tile_arrays_of(projected, bins), *picture, image_grad, records);
    if (error == cudaSuccess)
        error = seep_splat_unproject_cuda(view, chain, s);
    return seep_cuda_status(error);
}
