#include "kernels/compute/stream_cuda.h"

#include <cuda_runtime.h>

extern "C" {
#include "libprof/error.h"
}

static int status_of(cudaError_t error)
{
    if (error == cudaSuccess)
        return 0;
    (void)cudaGetLastError();
    return error == cudaErrorMemoryAllocation ? -SEEP_ENOMEM : -SEEP_EDEVICE;
}

const char *seep_cuda_stream_create(int device, void **stream)
{
    cudaStream_t made = nullptr;
    cudaError_t error = cudaSetDevice(device);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    *stream = made;
    return error == cudaSuccess ? nullptr : cudaGetErrorString(error);
}

void seep_cuda_stream_destroy(void *stream)
{
    (void)cudaStreamDestroy(static_cast<cudaStream_t>(stream));
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
    (void)cudaFree(block);
}

int seep_cuda_copy(void *stream, void *to, const void *from, size_t bytes)
{
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s);

    return status_of(error == cudaSuccess ? cudaStreamSynchronize(s) : error);
}
