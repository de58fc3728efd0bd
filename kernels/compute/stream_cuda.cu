#include "kernels/compute/stream_cuda.h"

#include "kernels/compute/cuda_device.cuh"

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
static cudaError_t check(const seep_on_device &on)
{
    cudaFuncAttributes attributes;

    return on.status == cudaSuccess ? cudaFuncGetAttributes(&attributes, any_kernel) : on.status;
}

static const char *words_of(cudaError_t error)
{
    return status_of(error) == 0 ? nullptr : cudaGetErrorString(error);
}

const char *seep_cuda_check(int device)
{
    const seep_on_device on(device);

    return words_of(check(on));
}

const char *seep_cuda_stream_create(int device, void **stream)
{
    const seep_on_device on(device);
    cudaStream_t made = nullptr;
    cudaError_t error = check(on);

    if (error == cudaSuccess)
        error = cudaStreamCreateWithFlags(&made, cudaStreamNonBlocking);
    *stream = made;
    return words_of(error);
}

void seep_cuda_stream_destroy(int device, void *stream)
{
    const seep_on_device on(device);

    (void)status_of(cudaStreamDestroy(static_cast<cudaStream_t>(stream)));
}

int seep_cuda_stream_wait(int device, void *stream)
{
    const seep_on_device on(device);

    return status_of(cudaStreamSynchronize(static_cast<cudaStream_t>(stream)));
}

int seep_cuda_alloc(int device, size_t bytes, void **out)
{
    const seep_on_device on(device);

    return status_of(cudaMalloc(out, bytes ? bytes : 1));
}

void seep_cuda_free(int device, void *block)
{
    const seep_on_device on(device);

    (void)status_of(cudaFree(block));
}

int seep_cuda_copy(int device, void *stream, void *to, const void *from, size_t bytes)
{
    const seep_on_device on(device);
    cudaStream_t s = static_cast<cudaStream_t>(stream);
    cudaError_t error = cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, s);

    return status_of(error == cudaSuccess ? cudaStreamSynchronize(s) : error);
}
