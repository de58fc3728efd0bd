#include "kernels/compute/stream_cuda.h"

#include <cuda_runtime.h>

extern "C" {
#include "libprof/base/error.h"
}

/* Clears CUDA's error, which the next call would report otherwise. */
static int status_of(cudaError_t error)
{
    if (error == cudaSuccess)
        return 0;
    (void)cudaGetLastError();
    return error == cudaErrorMemoryAllocation ? -SEEP_ENOMEM : -SEEP_EDEVICE;
}

__global__ static void any_kernel(void)
{
}

/* Notices here, not at the first kernel, that this build has no code for the GPU. */
const char *seep_cuda_stream_create(int device, void **stream)
{
    cudaStream_t made = nullptr;
    cudaFuncAttributes attributes;
    cudaError_t error = cudaSetDevice(device);

    if (error == cudaSuccess)
        error = cudaFuncGetAttributes(&attributes, any_kernel);
    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    *stream = made;
    return status_of(error) == 0 ? nullptr : cudaGetErrorString(error);
}

void seep_cuda_use(int device)
{
    (void)status_of(cudaSetDevice(device));
}

void seep_cuda_stream_destroy(void *stream)
{
    (void)status_of(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
}

int seep_cuda_stream_wait(void *stream)
{
    return status_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
}

int seep_cuda_alloc(size_t bytes, void **out)
{
    return status_of(cudaMalloc(out, bytes ? bytes : 1));
}

void seep_cuda_free(void *block)
{
    (void)status_of(cudaFree(block));
}

int seep_cuda_copy(void *stream, void *to, const void *from, size_t bytes)
{
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s);

    return status_of(error == cudaSuccess ? cudaStreamSynchronize(s) : error);
}
