/* What a package that uses CUDA looks like to code that intercepts the runtime: an object that
 * depends on its own libcudart, and calls it through its dynamic symbols. Built once for each
 * runtime, without sibling calls, so that the runtime returns to this file. */
#include "package_like.h"

#define EXPORT __attribute__((visibility("default"), noipa))

struct pitched {
    void *at;
    size_t pitch, x, y;
};

struct extent {
    size_t width, height, depth;
};

struct channels {
    int x, y, z, w, kind;
};

struct ipc {
    char handle[64];
};

extern int cudaSetDevice(int), cudaGetDevice(int *), cudaGetLastError(void);
extern int cudaMalloc(void **, size_t), cudaFree(void *);
extern int cudaMallocManaged(void **, size_t, unsigned);
extern int cudaMallocPitch(void **, size_t *, size_t, size_t);
extern int cudaMalloc3D(struct pitched *, struct extent);
extern int cudaMallocArray(void **, const struct channels *, size_t, size_t, unsigned);
extern int cudaMalloc3DArray(void **, const struct channels *, struct extent, unsigned);
extern int cudaMallocMipmappedArray(void **, const struct channels *, struct extent, unsigned,
                                    unsigned);
extern int cudaFreeArray(void *), cudaFreeMipmappedArray(void *);
extern int cudaMallocAsync(void **, size_t, void *), cudaFreeAsync(void *, void *);
extern int cudaMallocAsync_ptsz(void **, size_t, void *), cudaFreeAsync_ptsz(void *, void *);
extern int cudaMallocFromPoolAsync(void **, size_t, void *, void *);
extern int cudaMallocFromPoolAsync_ptsz(void **, size_t, void *, void *);
extern int cudaDeviceGetDefaultMemPool(void **, int);
extern int cudaMallocHost(void **, size_t), cudaHostAlloc(void **, size_t, unsigned);
extern int cudaFreeHost(void *);
extern int cudaHostRegister(void *, size_t, unsigned), cudaHostUnregister(void *);
extern int cudaIpcGetMemHandle(struct ipc *, void *), cudaIpcCloseMemHandle(void *);
extern int cudaIpcOpenMemHandle(void **, struct ipc, unsigned);
extern int cudaDeviceReset(void);
extern int cudaGetDriverEntryPoint(const char *, void **, unsigned long long, int *);
extern int cudaGetDriverEntryPointByVersion(const char *, void **, unsigned, unsigned long long,
                                            int *);

static const struct channels floats = {32, 0, 0, 0, 2};
enum { HEIGHT = 4, DEPTH = 3 };

EXPORT int package_set_device(int device)
{
    return cudaSetDevice(device);
}

EXPORT int package_get_device(int *device)
{
    return cudaGetDevice(device);
}

EXPORT int package_last_error(void)
{
    return cudaGetLastError();
}

/* Of a multiple of 60 KiB each row is one of 512 bytes, so that no pitch is wider. */
EXPORT int package_made(enum package_way way, void **block, size_t bytes)
{
    size_t pitch = 0;
    struct pitched three = {0};
    void *pool = 0;
    int result, device = 0;
    switch (way) {
    case PACKAGE_MALLOC:
        return cudaMalloc(block, bytes);
    case PACKAGE_MANAGED:
        return cudaMallocManaged(block, bytes, 1);
    case PACKAGE_PITCH:
        return cudaMallocPitch(block, &pitch, bytes / HEIGHT, HEIGHT);
    case PACKAGE_3D:
        result = cudaMalloc3D(&three, (struct extent){bytes / HEIGHT / DEPTH, HEIGHT, DEPTH});
        *block = three.at;
        return result;
    case PACKAGE_ARRAY:
        return cudaMallocArray(block, &floats, bytes / 4 / HEIGHT, HEIGHT, 0);
    case PACKAGE_3D_ARRAY:
        return cudaMalloc3DArray(block, &floats, (struct extent){bytes / 4, 0, 0}, 0);
    case PACKAGE_MIPMAPPED: /* four fifths, and a quarter of that */
        return cudaMallocMipmappedArray(block, &floats, (struct extent){bytes / 10, 2, 0}, 2, 0);
    case PACKAGE_ASYNC:
        return cudaMallocAsync(block, bytes, 0);
    case PACKAGE_ASYNC_PTSZ:
        return cudaMallocAsync_ptsz(block, bytes, 0);
    case PACKAGE_POOL:
    case PACKAGE_POOL_PTSZ:
        if (cudaGetDevice(&device) || cudaDeviceGetDefaultMemPool(&pool, device))
            return -1;
        return way == PACKAGE_POOL ? cudaMallocFromPoolAsync(block, bytes, pool, 0)
                                   : cudaMallocFromPoolAsync_ptsz(block, bytes, pool, 0);
    case PACKAGE_MALLOC_HOST:
        return cudaMallocHost(block, bytes);
    case PACKAGE_HOST_ALLOC:
        return cudaHostAlloc(block, bytes, 0);
    default:
        return -1;
    }
}

EXPORT int package_gone(enum package_way way, void *block)
{
    switch (way) {
    case PACKAGE_ARRAY:
    case PACKAGE_3D_ARRAY:
        return cudaFreeArray(block);
    case PACKAGE_MIPMAPPED:
        return cudaFreeMipmappedArray(block);
    case PACKAGE_ASYNC:
    case PACKAGE_POOL:
        return cudaFreeAsync(block, 0);
    case PACKAGE_ASYNC_PTSZ:
    case PACKAGE_POOL_PTSZ:
        return cudaFreeAsync_ptsz(block, 0);
    case PACKAGE_MALLOC_HOST:
    case PACKAGE_HOST_ALLOC:
        return cudaFreeHost(block);
    default:
        return cudaFree(block);
    }
}

EXPORT int package_registered(void *at, size_t bytes)
{
    return bytes ? cudaHostRegister(at, bytes, 0) : cudaHostUnregister(at);
}

EXPORT int package_ipc_handle(void *handle, void *block)
{
    return cudaIpcGetMemHandle(handle, block);
}

EXPORT int package_ipc_open(void **block, const void *handle)
{
    return cudaIpcOpenMemHandle(block, *(const struct ipc *)handle, 1);
}

EXPORT int package_ipc_close(void *block)
{
    return cudaIpcCloseMemHandle(block);
}

EXPORT int package_reset(void)
{
    return cudaDeviceReset();
}

EXPORT int package_entry(int by_version, const char *name, void **function)
{
    int found = 0;
    return by_version ? cudaGetDriverEntryPointByVersion(name, function, 12000, 0, &found)
                      : cudaGetDriverEntryPoint(name, function, 0, &found);
}
