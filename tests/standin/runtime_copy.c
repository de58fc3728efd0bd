/* Copies and fills are done at once, whatever their stream. Kernels compute nothing, so values are
 * garbage: no test looks at them. */
#include "tests/standin/cuda.h"
#include "tests/standin/runtime.h"

static char symbols[1 << 16]; /* all that lies in modules */

static int copy(void *to, const void *from, uint64_t bytes)
{
    if (from && to)
        standin_driver()->copy(to, from, bytes, 0);
    return 0;
}

static int fill(void *to, int value, uint64_t bytes)
{
    if (to)
        standin_driver()->copy(to, NULL, bytes, value);
    return 0;
}

EXPORT int cudaMemcpy(void *to, const void *from, size_t n, int kind)
{
    CALL();
    (void)kind;
    return copy(to, from, n);
}

EXPORT int cudaMemcpyAsync(void *to, const void *from, size_t n, int kind, void *stream)
{
    CALL();
    (void)kind, (void)stream;
    return copy(to, from, n);
}

EXPORT int cudaMemcpyPeerAsync(void *to, int to_device, const void *from, int from_device, size_t n,
                               void *stream)
{
    CALL();
    (void)to_device, (void)from_device, (void)stream;
    return copy(to, from, n);
}

EXPORT int cudaMemcpy2DAsync(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                             size_t width, size_t height, int kind, void *stream)
{
    CALL();
    (void)kind, (void)stream;
    for (size_t i = 0; i < height; i++)
        copy((char *)to + i * to_pitch, (const char *)from + i * from_pitch, width);
    return 0;
}

EXPORT int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch,
                        size_t width, size_t height, int kind)
{
    return cudaMemcpy2DAsync(to, to_pitch, from, from_pitch, width, height, kind, NULL);
}

EXPORT int cudaMemset(void *to, int value, size_t n)
{
    CALL();
    return fill(to, value, n);
}

EXPORT int cudaMemsetAsync(void *to, int value, size_t n, void *stream)
{
    CALL();
    (void)stream;
    return fill(to, value, n);
}

EXPORT int cudaGetSymbolAddress(void **at, const void *symbol)
{
    CALL();
    (void)symbol;
    *at = symbols;
    return 0;
}

NOTHING(cudaMemset2DAsync, void *to, size_t pitch, int value, size_t width, size_t height,
        void *stream)
NOTHING(cudaMemcpyToSymbol, const void *symbol, const void *from, size_t n, size_t offset, int kind)

/* 0: not known here, 1: the host's, 2: a device's, 3: managed. */
EXPORT int cudaPointerGetAttributes(struct cudaPointerAttributes *of, const void *at)
{
    struct standin_block block;
    ASK();
    *of = (struct cudaPointerAttributes){.device = -1, .host = (void *)(uint64_t)at};
    if (!standin_driver()->find(at, &block))
        return 0;
    of->type = block.device < 0 ? 1 : block.kind == STANDIN_MANAGED ? 3 : 2;
    of->device = block.device < 0 ? standin_device() : block.device;
    of->at = (void *)(uint64_t)at;
    of->host = of->type == 2 ? NULL : of->at;
    return 0;
}
