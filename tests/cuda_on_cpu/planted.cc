#include "tests/cuda_on_cpu/planted.h"

#include "kernels/compute/cuda_warp.cuh"

enum { THREADS = 256, BLOCKS = 5, ROUNDS = 20, N = THREADS * BLOCKS };

namespace
{

__global__ void reverse_block(int *out, bool with_barrier)
{
    __shared__ int room[THREADS];

    room[threadIdx.x] = (int)threadIdx.x;
    if (with_barrier)
        __syncthreads();
    out[blockIdx.x * THREADS + threadIdx.x] = room[THREADS - 1 - threadIdx.x];
}

__global__ void reverse_warp(int *out, bool with_barrier)
{
    __shared__ int room[THREADS];

    room[threadIdx.x] = (int)threadIdx.x;
    if (with_barrier)
        __syncwarp();
    out[blockIdx.x * THREADS + threadIdx.x] = room[threadIdx.x ^ 31];
}

__global__ void add_one(float *sum)
{
    atomicAdd(sum, 1.0f);
}

/* Counts the block's threads by every kind of meeting; 0 where all agree. */
__global__ void count_block(int *out)
{
    __shared__ unsigned by_warp[THREADS / 32];
    unsigned lane = threadIdx.x % 32;
    float by_shuffles = 1;

    for (unsigned distance = 16; distance > 0; distance /= 2)
        by_shuffles += __shfl_xor_sync(~0u, by_shuffles, distance);
    unsigned by_sum = __reduce_add_sync(~0u, 1), last = __reduce_max_sync(~0u, lane);
    bool by_ballot = __ballot_sync(~0u, lane % 2) == 0xaaaaaaaau;
    if (lane == last)
        by_warp[threadIdx.x / 32] = by_ballot && by_shuffles == 32 ? by_sum : 0;
    int left = __syncthreads_count(true);
    for (unsigned threads : by_warp)
        left -= (int)threads;
    out[blockIdx.x * THREADS + threadIdx.x] = left;
}

/* What GPUs without the instructions do, against the instructions; 0 where they agree. */
__global__ void join_by_shuffles(int *out)
{
    /* Sums wrap, and the largest is another lane's in each warp. */
    unsigned mine = (blockIdx.x * THREADS + threadIdx.x) * 0x9e3779b9u;

    out[blockIdx.x * THREADS + threadIdx.x] =
        seep_warp_by_shuffles(mine, seep_sum{}) != __reduce_add_sync(~0u, mine) ||
        seep_warp_by_shuffles(mine, seep_largest{}) != __reduce_max_sync(~0u, mine) ||
        seep_warp_sum(mine) != __reduce_add_sync(~0u, mine) ||
        seep_warp_largest(mine) != __reduce_max_sync(~0u, mine);
}

__global__ void add_plainly(float *sum)
{
    *sum += 1;
}

__global__ void reverse_after_vote(int *out)
{
    __shared__ int room[THREADS];

    room[threadIdx.x] = (int)threadIdx.x;
    if (__any_sync(~0u, true))
        out[blockIdx.x * THREADS + threadIdx.x] = room[threadIdx.x ^ 31];
}

__device__ __attribute__((noinline)) int read(const int *room, unsigned k)
{
    return room[k];
}

__global__ void overrun(int *out)
{
    __shared__ int room[THREADS];

    room[threadIdx.x] = 1;
    out[blockIdx.x * THREADS + threadIdx.x] = read(room, threadIdx.x + 1);
}

__global__ void part()
{
    if (threadIdx.x % 32 < 16)
        return;
    __ballot_sync(~0u, true);
}

cudaLaunchConfig_t grid(unsigned blocks, unsigned threads)
{
    return {dim3(blocks), dim3(threads), 0, nullptr, nullptr, 0};
}

/* ROUNDS launches of a kernel that fills out[N]; how many numbers are not as `right` says. */
template <class Launch, class Right> int count_wrong(Launch launch, Right right)
{
    const cudaLaunchConfig_t config = grid(BLOCKS, THREADS);
    static int host[N];
    void *out = nullptr;
    int wrong = 0;

    if (cudaMalloc(&out, sizeof host) != cudaSuccess)
        return -1;
    for (int round = 0; round < ROUNDS; round++) {
        if (launch(config, static_cast<int *>(out)) != cudaSuccess ||
            cudaMemcpyAsync(host, out, sizeof host, cudaMemcpyDeviceToHost, nullptr) != cudaSuccess)
            wrong += N;
        for (int i = 0; i < N; i++)
            wrong += host[i] != right(i % THREADS);
    }
    (void)cudaFree(out);
    return wrong;
}

} // namespace

int planted_block_reversal(bool with_barrier)
{
    return count_wrong(
        [=](const cudaLaunchConfig_t &c, int *out) {
            return cudaLaunchKernelEx(&c, reverse_block, out, with_barrier);
        },
        [](int i) { return THREADS - 1 - i; });
}

int planted_warp_reversal(bool with_barrier)
{
    return count_wrong(
        [=](const cudaLaunchConfig_t &c, int *out) {
            return cudaLaunchKernelEx(&c, reverse_warp, out, with_barrier);
        },
        [](int i) { return i ^ 31; });
}

int planted_block_sum(void)
{
    return count_wrong([](const cudaLaunchConfig_t &c,
                          int *out) { return cudaLaunchKernelEx(&c, count_block, out); },
                       [](int) { return 0; });
}

int planted_shuffles(void)
{
    return count_wrong([](const cudaLaunchConfig_t &c,
                          int *out) { return cudaLaunchKernelEx(&c, join_by_shuffles, out); },
                       [](int) { return 0; });
}

int planted_sum(bool cleared)
{
    const cudaLaunchConfig_t config = grid(BLOCKS, THREADS);
    void *sum = nullptr;
    float result = -1;

    if (cudaMalloc(&sum, sizeof result) != cudaSuccess)
        return -1;
    if (cleared)
        (void)cudaMemsetAsync(sum, 0, sizeof result, nullptr);
    (void)cudaLaunchKernelEx(&config, add_one, static_cast<float *>(sum));
    (void)cudaMemcpyAsync(&result, sum, sizeof result, cudaMemcpyDeviceToHost, nullptr);
    (void)cudaFree(sum);
    return !(result == N);
}

void planted_plain_add(void)
{
    const cudaLaunchConfig_t config = grid(1, THREADS);
    void *sum = nullptr;

    if (cudaMalloc(&sum, sizeof(float)) == cudaSuccess)
        (void)cudaLaunchKernelEx(&config, add_plainly, static_cast<float *>(sum));
    (void)cudaFree(sum);
}

void planted_ballot_barrier(void)
{
    (void)count_wrong([](const cudaLaunchConfig_t &c,
                         int *out) { return cudaLaunchKernelEx(&c, reverse_after_vote, out); },
                      [](int i) { return i ^ 31; });
}

void planted_overrun(void)
{
    (void)count_wrong(
        [](const cudaLaunchConfig_t &c, int *out) { return cudaLaunchKernelEx(&c, overrun, out); },
        [](int) { return 1; });
}

void planted_parting(void)
{
    const cudaLaunchConfig_t config = grid(1, 64);

    (void)cudaLaunchKernelEx(&config, part);
}

int planted_wrong_calls(void)
{
    const cudaLaunchConfig_t none = grid(0, THREADS), large = grid(1, 2048);
    char host[16];
    void *device = nullptr;
    bool refused =
        cudaMalloc(&device, 8) == cudaSuccess &&
        cudaMemsetAsync(host, 0, 8, nullptr) == cudaErrorInvalidValue &&
        cudaMemcpyAsync(device, host, 8, cudaMemcpyDeviceToHost, nullptr) ==
            cudaErrorInvalidValue &&
        cudaMemcpyAsync(host, device, 9, cudaMemcpyDeviceToHost, nullptr) == cudaErrorInvalidValue;

    (void)cudaFree(device);
    (void)cudaGetLastError();
    refused = refused && cudaLaunchKernelEx(&none, part) == cudaErrorInvalidConfiguration &&
              cudaLaunchKernelEx(&large, part) == cudaErrorInvalidConfiguration &&
              cudaGetLastError() == cudaErrorInvalidConfiguration;

    return !(refused && cudaGetLastError() == cudaSuccess);
}
