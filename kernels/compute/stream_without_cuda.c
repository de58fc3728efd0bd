#include "kernels/compute/stream_cuda.h"

#ifndef SEEP_WITH_CUDA

#include "libprof/base/error.h"

const char *seep_cuda_check(int device)
{
    (void)device;
    return "this seep-lab was built without CUDA";
}

const char *seep_cuda_stream_create(int device, void **stream)
{
    *stream = NULL;
    return seep_cuda_check(device);
}

void seep_cuda_stream_destroy(int device, void *stream)
{
    (void)device, (void)stream;
}

int seep_cuda_stream_wait(int device, void *stream)
{
    (void)device, (void)stream;
    return -SEEP_EDEVICE;
}

int seep_cuda_alloc(int device, size_t bytes, void **out)
{
    (void)device, (void)bytes;
    *out = NULL;
    return -SEEP_EDEVICE;
}

void seep_cuda_free(int device, void *block)
{
    (void)device, (void)block;
}

int seep_cuda_copy(int device, void *stream, void *to, const void *from, size_t bytes)
{
    (void)device, (void)stream, (void)to, (void)from, (void)bytes;
    return -SEEP_EDEVICE;
}

#endif
