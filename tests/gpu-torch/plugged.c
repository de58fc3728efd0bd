/* An allocator that PyTorch takes its devices' memory from instead of its own. */
#include <sys/types.h>

#include "tests/standin/cuda.h"

void *plugged_in(ssize_t bytes, int device, void *stream);
void plugged_out(void *at, ssize_t bytes, int device, void *stream);

void *plugged_in(ssize_t bytes, int device, void *stream)
{
    void *at = NULL;
    int before = 0;
    (void)stream;
    cudaGetDevice(&before);
    cudaSetDevice(device);
    cudaMalloc(&at, (size_t)bytes);
    cudaSetDevice(before);
    return at;
}

void plugged_out(void *at, ssize_t bytes, int device, void *stream)
{
    (void)bytes, (void)device, (void)stream;
    cudaFree(at);
}
