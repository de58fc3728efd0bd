/* Backward on the GPU. First a block a tile, back to front: each warp adds up what its pixels say
 * of a Gaussian and adds nine sums to the Gaussian's record. Then a thread a Gaussian: the chain
 * rule from the sums to the parameters.
 *
 * A record lies where the Gaussian's SH gradient will, which is at least as large from degree 1
 * on, and is read before that is written: backward takes no memory of its own. */
#include "kernels/splat/splat_sh.cuh"
#include "kernels/splat/splat_tile.cuh"

/* Sums of Gaussian i are at [i * stride]. */
struct record_array {
    float *sums;
    size_t stride;
};

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

/* To be called by whole warps. The lanes that hold a sum add it in one go, next to each other. */
__device__ __forceinline__ void add_to_record(float *record, const float *v)
{
    unsigned lane = threadIdx.x % 32;
    float sum = warp_sums_of_8(v), ninth = warp_sum(v[8]);
    bool of_eight = lane % 4 == 0;

    if (of_eight || lane == 1)
        atomicAdd(&record[of_eight ? lane / 4 : 8], of_eight ? sum : ninth);
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
__device__ static void go_back_over(const struct tile_batch *batch, const uint32_t *gaussians,
                                    const struct tile_place &place, uint32_t top,
                                    uint32_t warp_last, struct backward_pixel *pixel,
                                    const struct record_array &records)
{
    float x = (float)place.x + 0.5f, y = (float)place.y + 0.5f;
    const uint32_t *touched = batch->touched[threadIdx.x / 32];
    uint32_t skipped = top > warp_last ? top - warp_last : 0;

    for (uint32_t word = skipped / 32; word < SPLAT_BLOCK / 32; word++) {
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
            add_to_record(records.sums + gaussians[slot] * records.stride, v);
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

__global__ static void __launch_bounds__(SPLAT_BLOCK)
    sum_over_pixels(const struct splat_view view, const struct tile_arrays arrays,
                    const struct seep_splat_picture picture, const float *image_grad,
                    const struct record_array records)
{
    __shared__ struct tile_batch batch;
    __shared__ uint32_t gaussians[SPLAT_BLOCK], lasts[TILE_WARPS];
    struct tile_place place = tile_place_of(view);
    const uint32_t *list = arrays.gaussians + arrays.tile_start[blockIdx.x];
    struct backward_pixel pixel = pixel_behind_all(view, place, picture, image_grad);
    uint32_t warp_last = __reduce_max_sync((unsigned)ALL_LANES, pixel.last), top = 0;

    if (threadIdx.x % 32 == 0)
        lasts[threadIdx.x / 32] = warp_last;
    __syncthreads();
    for (int k = 0; k < TILE_WARPS; k++)
        top = max(top, lasts[k]);
    while (top > 0) {
        bool there = threadIdx.x < top;
        uint32_t gaussian = there ? list[top - 1 - threadIdx.x] : 0;
        gaussians[threadIdx.x] = gaussian;
        tile_fill(&batch, arrays, place, there, gaussian);
        __syncthreads();
        go_back_over(&batch, gaussians, place, top, warp_last, &pixel, records);
        __syncthreads();
        top -= top < SPLAT_BLOCK ? top : SPLAT_BLOCK;
    }
}

/* Culled Gaussians' records are neither added to nor read. */
__global__ static void __launch_bounds__(SPLAT_BLOCK)
    clear_records(const struct record_array records, const uint32_t *offsets, size_t n)
{
    size_t i = (size_t)blockIdx.x * SPLAT_BLOCK + threadIdx.x;

    if (i < n && offsets[i] != offsets[i + 1])
        for (int k = 0; k < SPLAT_SUMS; k++)
            records.sums[i * records.stride + (size_t)k] = 0;
}

struct chain_arrays {
    struct seep_splat_model model;
    struct seep_splat_projected projected;
    struct seep_splat_gradients out;
    struct record_array records;
    bool wide;
};

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
__device__ static void chain_one(const struct splat_view &view, const struct chain_arrays &arrays,
                                 size_t i, struct harmonics_room<DEGREE> *room)
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
__global__ static void __launch_bounds__(SPLAT_BLOCK)
    chain_to_parameters(const struct splat_view view, const struct chain_arrays arrays)
{
    __shared__ struct harmonics_room<DEGREE> rooms[SPLAT_BLOCK];
    size_t n = arrays.model.n, i = (size_t)blockIdx.x * SPLAT_BLOCK + threadIdx.x;
    unsigned lane = threadIdx.x % 32;

    if (i < n)
        chain_one<DEGREE>(view, arrays, i, &rooms[threadIdx.x]);
    /* The warp's records have been read, and its rooms are filled. */
    __syncwarp();
    if (i - lane < n)
        store_harmonics<DEGREE>(&rooms[threadIdx.x - lane], i - lane, n,
                                (unsigned)arrays.model.sh_stride, arrays.out.sh);
}

static cudaError_t chain_all(const struct splat_view &view, const struct chain_arrays &arrays,
                             cudaStream_t stream)
{
    size_t n = arrays.model.n;

    switch (arrays.model.sh_degree) {
    case 0:
        return splat_launch(chain_to_parameters<0>, n, stream, view, arrays);
    case 1:
        return splat_launch(chain_to_parameters<1>, n, stream, view, arrays);
    case 2:
        return splat_launch(chain_to_parameters<2>, n, stream, view, arrays);
    default:
        return splat_launch(chain_to_parameters<3>, n, stream, view, arrays);
    }
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
    cudaStream_t s = splat_stream(stream);

    if (!scratch) {
        *scratch_bytes = parts.used;
        return 0;
    }
    if (*scratch_bytes < parts.used)
        return -SEEP_EINVAL;
    struct record_array records = {in_place ? out->sh : aside,
                                   in_place ? (size_t)model->sh_stride * 3 : (size_t)SPLAT_SUMS};
    struct chain_arrays chain = {*model, *projected, *out, records,
                                 splat_wide(model->sh, model->sh_stride)};
    cudaError_t error = splat_launch(clear_records, model->n, s, records,
                                     static_cast<const uint32_t *>(projected->offsets), model->n);
    if (error == cudaSuccess && projected->n_pairs > 0)
        error = splat_launch(sum_over_pixels, blocks * SPLAT_BLOCK, s, view,
                             tile_arrays_of(model, projected, bins), *picture, image_grad, records);
    if (error == cudaSuccess)
        error = chain_all(view, chain, s);
    return splat_status(error);
}
