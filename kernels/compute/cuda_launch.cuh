/* What all CUDA twins share: statuses, the stream, launches. Kernels are launched by a function
 * call, not by <<<>>>, so that a plain C++ compiler can build the files, too
 * (tests/cuda_on_cpu). */
#ifndef SEEP_KERNELS_CUDA_LAUNCH_CUH
#define SEEP_KERNELS_CUDA_LAUNCH_CUH

#include "kernels/compute/cuda_device.cuh"
#include "kernels/compute/stream.h"

#include <cuda_runtime.h>

constexpr unsigned SEEP_BLOCK = 256; /* threads in every block */

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
