// Mean features of voxels and their gradients on a GPU, to the bits of voxel_mean_cpu.c.
#include "kernels/compute/cuda_launch.cuh"
#include "kernels/voxels/voxelize_twins.h"

#include <cuda_runtime.h>

namespace
{

__device__ inline size_t thread_index()
{
    return static_cast<size_t>(blockIdx.x) * blockDim.x + threadIdx.x;
}

constexpr unsigned parts = SEEP_VOXEL_PARTS;
constexpr unsigned channels_at_once = 8; // one sector of a row

// `width` channels, at most channels_at_once, of a voxel of n points, by all threads of the block:
// a thread sums a part of one channel, n / 256 points, and one adds the parts up.
template <typename Index>
__device__ void mean_of_large(const int32_t *points, int32_t n, const float *features,
                              Index n_channels, unsigned width, double *sums, float *to)
{
    for (unsigned k = threadIdx.x; k < parts * width; k += SEEP_BLOCK) {
        const unsigned part = k / width, channel = k - part * width;
        const int32_t end = static_cast<int32_t>(static_cast<int64_t>(n) * (part + 1) / parts);
        double sum = 0;
        for (int32_t i = static_cast<int32_t>(static_cast<int64_t>(n) * part / parts); i < end; i++)
            sum += __ldg(features + static_cast<size_t>(points[i]) * n_channels + channel);
        sums[k] = sum;
    }
    __syncthreads();
    if (threadIdx.x < width) {
        double sum = 0;
        for (unsigned part = 0; part < parts; part++)
            sum += sums[part * width + threadIdx.x];
        to[threadIdx.x] = static_cast<float>(sum / n);
    }
    __syncthreads();
}

// A thread per voxel and channel: neighbours read neighbouring channels of the same rows. Voxels
// with many points are left for the whole block: alone, a thread would take one gather after the
// other for each of them.
template <typename Index>
__global__ void mean(const int32_t *voxel_start, const int32_t *voxel_points, const float *features,
                     Index n_channels, Index n, float *voxel_features)
{
    __shared__ double sums[parts * channels_at_once];
    __shared__ bool is_large[SEEP_BLOCK];
    const Index i = static_cast<Index>(thread_index());
    bool large = false;

    if (thread_index() < n) {
        const Index voxel = i / n_channels, channel = i - voxel * n_channels;
        const int32_t begin = voxel_start[voxel], end = voxel_start[voxel + 1];
        large = end - begin > SEEP_VOXEL_LARGE;
        double sum = 0;
        for (int32_t k = begin; k < end && !large; k++)
            sum += __ldg(features + static_cast<size_t>(voxel_points[k]) * n_channels + channel);
        if (!large)
            voxel_features[i] = static_cast<float>(sum / (end - begin));
    }
    is_large[threadIdx.x] = large;
    if (__syncthreads_count(large) == 0)
        return;
    for (unsigned item = 0, width; item < SEEP_BLOCK; item += width) {
        width = 1;
        if (!is_large[item])
            continue;
        const Index at = static_cast<Index>(i - threadIdx.x + item);
        const Index voxel = at / n_channels, channel = at - voxel * n_channels;
        const int32_t begin = voxel_start[voxel], end = voxel_start[voxel + 1];
        width = SEEP_BLOCK - item < channels_at_once ? SEEP_BLOCK - item : channels_at_once;
        if (n_channels - channel < width)
            width = static_cast<unsigned>(n_channels - channel);
        mean_of_large(voxel_points + begin, end - begin, features + channel, n_channels, width,
                      sums, voxel_features + at);
    }
}

template <typename Index>
__global__ void mean_backward(const int32_t *voxel_start, const int32_t *point_to_voxel,
                              const float *voxel_grads, Index n_channels, Index n,
                              float *feature_grads)
{
    const Index i = static_cast<Index>(thread_index());

    if (thread_index() >= n)
        return;
    const Index point = i / n_channels, channel = i - point * n_channels;
    const int32_t voxel = point_to_voxel[point];
    float grad = 0;
    if (voxel >= 0) {
        const float share = 1 / static_cast<float>(voxel_start[voxel + 1] - voxel_start[voxel]);
        grad = voxel_grads[static_cast<size_t>(voxel) * n_channels + channel] * share;
    }
    feature_grads[i] = grad;
}

template <typename Index>
using channel_kernel = void (*)(const int32_t *voxel_start, const int32_t *of, const float *from,
                                Index n_channels, Index n, float *to);

// A thread for each channel of `rows` rows, with indices of 32 bits if those suffice.
int launch_channels(channel_kernel<uint32_t> narrow, channel_kernel<size_t> wide, size_t rows,
                    size_t n_channels, const int32_t *voxel_start, const int32_t *of,
                    const float *from, float *to, struct seep_stream *stream)
{
    const size_t n = rows * n_channels, most = static_cast<size_t>(INT32_MAX) * SEEP_BLOCK;
    const seep_cuda_turn s(stream);

    if (n > most) // blocks of a launch
        return -SEEP_EINVAL;
    return seep_cuda_status(
        n <= UINT32_MAX
            ? seep_launch(narrow, n, s, voxel_start, of, from, static_cast<uint32_t>(n_channels),
                          static_cast<uint32_t>(n), to)
            : seep_launch(wide, n, s, voxel_start, of, from, n_channels, n, to));
}

} // namespace

int seep_voxel_mean_cuda(const struct seep_voxel_maps *maps, const float *features,
                         size_t n_channels, float *voxel_features, struct seep_stream *stream)
{
    return launch_channels(mean<uint32_t>, mean<size_t>, maps->n_voxels, n_channels,
                           maps->voxel_start, maps->voxel_points, features, voxel_features, stream);
}

int seep_voxel_mean_backward_cuda(const struct seep_voxel_maps *maps, size_t n_points,
                                  const float *voxel_grads, size_t n_channels, float *feature_grads,
                                  struct seep_stream *stream)
{
    return launch_channels(mean_backward<uint32_t>, mean_backward<size_t>, n_points, n_channels,
                           maps->voxel_start, maps->point_to_voxel, voxel_grads, feature_grads,
                           stream);
}
