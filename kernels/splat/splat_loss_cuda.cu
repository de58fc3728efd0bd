/* The loss on the GPU: a fixed number of blocks, so that sums come in one order. */
#include "kernels/splat/splat_cuda.cuh"

#include <cub/block/block_reduce.cuh>

#include <cmath>

enum { LOSS_BLOCKS = 1024 };

struct loss_sums {
    double absolute, squared;
};

struct add_sums {
    __device__ struct loss_sums operator()(const struct loss_sums &a,
                                           const struct loss_sums &b) const
    {
        return {a.absolute + b.absolute, a.squared + b.squared};
    }
};

typedef cub::BlockReduce<struct loss_sums, SEEP_BLOCK> reduce_sums;

__global__ static void __launch_bounds__(SEEP_BLOCK)
    compare(const float *image, const float *target, size_t n, float grad, float *image_grad,
            struct loss_sums *sums)
{
    __shared__ typename reduce_sums::TempStorage room;
    struct loss_sums mine = {0, 0};

    for (size_t i = (size_t)blockIdx.x * SEEP_BLOCK + threadIdx.x; i < n;
         i += (size_t)LOSS_BLOCKS * SEEP_BLOCK) {
        double difference = (double)image[i] - (double)target[i];
        mine.absolute += fabs(difference);
        mine.squared += difference * difference;
        if (image_grad)
            image_grad[i] = difference > 0 ? grad : difference < 0 ? -grad : 0;
    }
    struct loss_sums all = reduce_sums(room).Reduce(mine, add_sums{});
    if (threadIdx.x == 0)
        sums[blockIdx.x] = all;
}

/* One block; the result takes the place of the first. */
__global__ static void __launch_bounds__(SEEP_BLOCK) add_up(struct loss_sums *sums)
{
    __shared__ typename reduce_sums::TempStorage room;
    struct loss_sums mine = {0, 0};

    for (int k = (int)threadIdx.x; k < LOSS_BLOCKS; k += SEEP_BLOCK)
        mine = add_sums{}(mine, sums[k]);
    struct loss_sums all = reduce_sums(room).Reduce(mine, add_sums{});
    if (threadIdx.x == 0)
        sums[0] = all;
}

int seep_splat_loss_cuda(const float *image, const float *target, size_t n_values,
                         float *image_grad, struct seep_splat_loss *out, void *scratch,
                         size_t *scratch_bytes, struct seep_stream *stream)
{
    struct splat_scratch parts = {static_cast<char *>(scratch), 0};
    struct loss_sums *sums = splat_take<struct loss_sums>(&parts, LOSS_BLOCKS), all = {0, 0};
    double n = n_values ? (double)n_values : 1;
    const seep_cuda_turn s(stream);

    if (!scratch) {
        *scratch_bytes = parts.used;
        return 0;
    }
    if (*scratch_bytes < parts.used)
        return -SEEP_EINVAL;
    cudaError_t error = seep_launch(compare, (size_t)LOSS_BLOCKS * SEEP_BLOCK, s, image, target,
                                    n_values, (float)(1 / n), image_grad, sums);
    if (error == cudaSuccess)
        error = seep_launch(add_up, SEEP_BLOCK, s, sums);
    if (error == cudaSuccess)
        error = cudaMemcpyAsync(&all, sums, sizeof all, cudaMemcpyDeviceToHost, s);
    if (error == cudaSuccess)
        error = cudaStreamSynchronize(s);
    if (error != cudaSuccess)
        return seep_cuda_status(error);
    out->l1 = all.absolute / n;
    out->mse = all.squared / n;
    out->psnr_db = out->mse == 0 ? (double)INFINITY : -10 * std::log10(out->mse);
    return 0;
}
