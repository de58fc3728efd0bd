/* What all CUDA twins share: statuses, the stream, launches. Kernels are launched by a function
 * call, not by <<<>>>, so that a plain C++ compiler can build the files, too
 * (tests/cuda_on_cpu). */
#ifndef SEEP_KERNELS_CUDA_LAUNCH_CUH
#define SEEP_KERNELS_CUDA_LAUNCH_CUH

#include "kernels/compute/stream.h"

#include <cuda_runtime.h>

constexpr unsigned SEEP_BLOCK = 256; /* threads in every block */

/* A device is the calling thread's current one for as long as this lives; then it is again the one
 * that the caller has chosen. */
class seep_on_device
{
  public:
    explicit seep_on_device(int device)
    {
        int now = device;

        status = cudaGetDevice(&now);
        if (status == cudaSuccess && now != device)
            status = cudaSetDevice(device);
        before = status == cudaSuccess ? now : device;
        chosen = device;
    }
    ~seep_on_device()
    {
        if (before != chosen)
            (void)cudaSetDevice(before);
    }
    seep_on_device(const seep_on_device &) = delete;
    seep_on_device &operator=(const seep_on_device &) = delete;

    cudaError_t status;

  private:
    int before, chosen;
};

/* What each twin begins with: the CUDA stream, whose device is current meanwhile. */
class seep_cuda_turn
{
  public:
    explicit seep_cuda_turn(const struct seep_stream *from)
        : device(seep_stream_cuda_device(from)),
          stream(static_cast<cudaStream_t>(seep_stream_cuda(from)))
    {
    }
    operator cudaStream_t() const
    {
        return stream;
    }

  private:
    seep_on_device device;
    cudaStream_t stream;
};

/* 0 or -SEEP_EDEVICE. Clears CUDA's error, which the next call would report otherwise. */
static inline int seep_cuda_status(cudaError_t error)
{
    if (error != cudaSuccess)
        (void)cudaGetLastError();
    return error == cudaSuccess ? 0 : -SEEP_EDEVICE;
}

/* One thread for each of n items, in blocks of SEEP_BLOCK; n == 0: nothing. */
template <class... Parameters, class... Arguments>
static cudaError_t seep_launch(void (*kernel)(Parameters...), size_t n, cudaStream_t stream,
                               Arguments... arguments)
{
    size_t blocks = (n + SEEP_BLOCK - 1) / SEEP_BLOCK;
    cudaLaunchConfig_t config = {};

    if (blocks == 0)
        return cudaSuccess;
    if (blocks > 0x7fffffff)
        return cudaErrorInvalidConfiguration;
    config.gridDim = dim3((unsigned)blocks);
    config.blockDim = dim3(SEEP_BLOCK);
    config.stream = stream;
    return cudaLaunchKernelEx(&config, kernel, arguments...);
}

#endif
