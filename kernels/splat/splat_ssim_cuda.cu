/* SSIM on the GPU: a block a tile of one channel's values. What its windows reach is in shared
 * memory; sums go by rows, then by columns. */
#include "kernels/splat/splat_cuda.cuh"
#include "kernels/splat/splat_ssim_value.h"

#include <cub/block/block_reduce.cuh>

enum { SIDE = 16, AROUND = SIDE + 2 * SSIM_REACH };
static_assert(SIDE * SIDE == SEEP_BLOCK, "a thread a pixel");

typedef cub::BlockReduce<double, SEEP_BLOCK> reduce_double;

struct add_doubles {
    __device__ double operator()(double a, double b) const
    {
        return a + b;
    }
};

struct ssim_picture {
    int width, height, tiles_x;
    struct ssim_window window;
};

/* What the block is of: its channel, and where its tile begins. */
struct ssim_tile {
    int channel, x, y;
};

__device__ static struct ssim_tile tile_of(const struct ssim_picture &p)
{
    int tile = (int)(blockIdx.x / SSIM_CHANNELS);

    return {(int)(blockIdx.x % SSIM_CHANNELS), tile % p.tiles_x * SIDE, tile / p.tiles_x * SIDE};
}

__device__ static size_t value_at(const struct ssim_picture &p, int channel, int x, int y)
{
    return ((size_t)y * (size_t)p.width + (size_t)x) * SSIM_CHANNELS + (size_t)channel;
}

/* Zeros beyond the picture's edge. */
__device__ static void load_around(const struct ssim_picture &p, const struct ssim_tile &tile,
                                   const float *from, float (*to)[AROUND])
{
    for (int i = (int)threadIdx.x; i < AROUND * AROUND; i += SEEP_BLOCK) {
        int x = tile.x - SSIM_REACH + i % AROUND, y = tile.y - SSIM_REACH + i / AROUND;
        bool inside = x >= 0 && x < p.width && y >= 0 && y < p.height;
        to[i / AROUND][i % AROUND] = inside ? from[value_at(p, tile.channel, x, y)] : 0;
    }
}

__device__ static float down_columns(const struct ssim_picture &p, const float (*rows)[SIDE], int x,
                                     int y)
{
    float sum = 0;

    for (int k = 0; k < SSIM_TAPS; k++)
        sum += p.window.taps[k] * rows[y + k][x];
    return sum;
}

__device__ static void sums_of_rows(const struct ssim_picture &p, const float (*a)[AROUND],
                                    const float (*b)[AROUND], float (*rows)[AROUND][SIDE])
{
    for (int i = (int)threadIdx.x; i < AROUND * SIDE; i += SEEP_BLOCK) {
        int x = i % SIDE, y = i / SIDE;
        float sum[SSIM_SUMS] = {0, 0, 0, 0, 0};
        for (int k = 0; k < SSIM_TAPS; k++) {
            float w = p.window.taps[k], va = a[y][x + k], vb = b[y][x + k];
            sum[SSIM_X] += w * va;
            sum[SSIM_Y] += w * vb;
            sum[SSIM_XX] += w * (va * va);
            sum[SSIM_YY] += w * (vb * vb);
            sum[SSIM_XY] += w * (va * vb);
        }
        for (int k = 0; k < SSIM_SUMS; k++)
            rows[k][y][x] = sum[k];
    }
}

/* by: [SSIM_DERIVATIVES] pictures, or NULL where no gradient is wanted. */
__global__ static void __launch_bounds__(SEEP_BLOCK)
    compare_tiles(const struct ssim_picture p, const float *image, const float *target, float *by,
                  double *sums)
{
    __shared__ float a[AROUND][AROUND], b[AROUND][AROUND], rows[SSIM_SUMS][AROUND][SIDE];
    __shared__ typename reduce_double::TempStorage room;
    struct ssim_tile tile = tile_of(p);
    int x = (int)threadIdx.x % SIDE, y = (int)threadIdx.x / SIDE;
    size_t n = (size_t)p.width * (size_t)p.height * SSIM_CHANNELS;
    double mine = 0;

    load_around(p, tile, image, a);
    load_around(p, tile, target, b);
    __syncthreads();
    sums_of_rows(p, a, b, rows);
    __syncthreads();
    if (tile.x + x < p.width && tile.y + y < p.height) {
        size_t at = value_at(p, tile.channel, tile.x + x, tile.y + y);
        float sum[SSIM_SUMS], of[SSIM_DERIVATIVES];
        for (int k = 0; k < SSIM_SUMS; k++)
            sum[k] = down_columns(p, rows[k], x, y);
        mine = (double)ssim_of(sum, of);
        for (int k = 0; by && k < SSIM_DERIVATIVES; k++)
            by[(size_t)k * n + at] = of[k];
    }
    double all = reduce_double(room).Reduce(mine, add_doubles{});
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

/* The window is symmetric, so what a value takes part in is the window around it. */
__global__ static void __launch_bounds__(SEEP_BLOCK)
    add_gradient(const struct ssim_picture p, const float *image, const float *target,
                 const float *by, float weight, float share, float *grad)
{
    __shared__ float around[AROUND][AROUND], rows[AROUND][SIDE];
    struct ssim_tile tile = tile_of(p);
    int x = (int)threadIdx.x % SIDE, y = (int)threadIdx.x / SIDE;
    size_t n = (size_t)p.width * (size_t)p.height * SSIM_CHANNELS;
    float d[SSIM_DERIVATIVES];

    for (int k = 0; k < SSIM_DERIVATIVES; k++) {
        load_around(p, tile, by + (size_t)k * n, around);
        __syncthreads();
        for (int i = (int)threadIdx.x; i < AROUND * SIDE; i += SEEP_BLOCK) {
            float sum = 0;
            for (int tap = 0; tap < SSIM_TAPS; tap++)
                sum += p.window.taps[tap] * around[i / SIDE][i % SIDE + tap];
            rows[i / SIDE][i % SIDE] = sum;
        }
        __syncthreads();
        d[k] = down_columns(p, rows, x, y);
    }
    if (tile.x + x >= p.width || tile.y + y >= p.height)
        return;
    size_t at = value_at(p, tile.channel, tile.x + x, tile.y + y);
    float slope = d[SSIM_BY_X] + 2 * image[at] * d[SSIM_BY_XX] + target[at] * d[SSIM_BY_XY];
    grad[at] = (1 - weight) * grad[at] - share * slope;
}

/* One block; the result takes the place of the first. */
__global__ static void __launch_bounds__(SEEP_BLOCK) add_up(double *sums, size_t n)
{
    __shared__ typename reduce_double::TempStorage room;
    double mine = 0;

    for (size_t i = threadIdx.x; i < n; i += SEEP_BLOCK)
        mine += sums[i];
    double all = reduce_double(room).Reduce(mine, add_doubles{});
    if (threadIdx.x == 0)
        sums[0] = all;
}

int seep_splat_ssim_cuda(const float *image, const float *target, int width, int height,
                         float weight, float *image_grad, double *ssim, void *scratch,
                         size_t *scratch_bytes, struct seep_stream *stream)
{
    const struct ssim_picture p = {width, height, (width + SIDE - 1) / SIDE,
                                   ssim_window_of_paper()};
    const size_t n = (size_t)width * (size_t)height * SSIM_CHANNELS;
    const size_t n_blocks =
        (size_t)p.tiles_x * (size_t)((height + SIDE - 1) / SIDE) * SSIM_CHANNELS;
    struct splat_scratch parts = {static_cast<char *>(scratch), 0};
    double *sums = splat_take<double>(&parts, n_blocks);
    float *by = splat_take<float>(&parts, SSIM_DERIVATIVES * n);
    const seep_cuda_turn s(stream);

    if (!scratch) {
        *scratch_bytes = parts.used;
        return 0;
    }
    if (*scratch_bytes < parts.used)
        return -SEEP_EINVAL;
    cudaError_t error = seep_launch(compare_tiles, n_blocks * SEEP_BLOCK, s, p, image, target,
                                    image_grad ? by : nullptr, sums);
    if (error == cudaSuccess && image_grad)
        error = seep_launch(add_gradient, n_blocks * SEEP_BLOCK, s, p, image, target,
                            (const float *)by, weight, weight / (float)n, image_grad);
    if (error == cudaSuccess)
        error = seep_launch(add_up, SEEP_BLOCK, s, sums, n_blocks);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(ssim, sums, sizeof *ssim, cudaMemcpyDeviceToHost, s);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(s);
    *ssim = error == cudaSuccess ? *ssim / (double)n : 0;
    return seep_cuda_status(error);
}
