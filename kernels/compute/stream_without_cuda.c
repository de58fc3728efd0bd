#include "kernels/compute/stream_cuda.h"

#ifndef SEEP_WITH_CUDA

#include "libprof/base/error.h"

const char *seep_cuda_stream_create(int device, void **stream)
{
    (void)device;
    *stream = NULL;
    return "this build of seep has no CUDA";
}

void seep_cuda_stream_destroy(void *stream)
{
    (void)stream;
}

void seep_cuda_use(int device)
{
    (void)device;
}

int seep_cuda_stream_wait(void *stream)
{
    (void)stream;
    return -SEEP_EDEVICE;
}

int seep_cuda_alloc(size_t bytes, void **out)
{
    (void)bytes;
    *out = NULL;
    return -SEEP_EDEVICE;
}

void seep_cuda_free(void *block)
{
    (void)block;
}

int seep_cuda_copy(void *stream, void *to, const void *from, size_t bytes)
{
    (void)stream, (void)to, (void)from, (void)bytes;
    return -SEEP_EDEVICE;
}

#endif
