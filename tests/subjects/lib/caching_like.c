/* What PyTorch's caching allocator looks like to an observer: it takes segments from the runtime,
 * through the dynamic symbol, and reports the tensors that it cuts from them (c10_like.c). */
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default"), noipa))

enum { CUDA = 1 };

extern int cudaMalloc(void **, size_t), cudaFree(void *), cudaSetDevice(int);
extern void c10_made(int type, int number, void *block, int64_t bytes);
extern void c10_gone(int type, int number, void *block, int64_t bytes);
extern void c10_failed(int number, int64_t bytes);

/* 0: there is no room. */
EXPORT char *caching_segment(int device, size_t bytes)
{
    void *at = NULL;
    return cudaSetDevice(device) == 0 && cudaMalloc(&at, bytes) == 0 ? at : NULL;
}

EXPORT int caching_segment_gone(char *at)
{
    return cudaFree(at);
}

EXPORT void caching_tensor(int device, char *at, int64_t bytes)
{
    c10_made(CUDA, device, at, bytes);
}

EXPORT void caching_tensor_gone(int device, char *at, int64_t bytes)
{
    c10_gone(CUDA, device, at, bytes);
}

EXPORT void caching_oom(int device, int64_t bytes)
{
    c10_failed(device, bytes);
}
