/* The runtime's memory: all ways to allocate and free it. */
#include <string.h>

#include "tests/standin/cuda.h"
#include "tests/standin/runtime.h"

/* What cudaFree() takes. */
#define FREED (1u << STANDIN_MALLOC | 1u << STANDIN_MANAGED | 1u << STANDIN_ASYNC)
enum { PITCH = 512 };

static int take(enum standin_kind kind, uint64_t bytes, void **at)
{
    if (!at)
        return standin_leave(STANDIN_INVALID);
    return standin_leave(standin_driver()->take(kind, standin_device(), bytes, at));
}

static int give(unsigned kinds, const void *at)
{
    return standin_leave(standin_driver()->give(kinds, at));
}

int cudaMalloc(void **at, size_t size)
{
    CALL();
    return take(STANDIN_MALLOC, size, at);
}

int cudaFree(void *at)
{
    CALL();
    return give(FREED, at);
}

int cudaMallocPitch(void **at, size_t *pitch, size_t width, size_t height)
{
    CALL();
    *pitch = (width + PITCH - 1) / PITCH * PITCH;
    return take(STANDIN_MALLOC, *pitch * height, at);
}

int cudaMalloc3D(struct cudaPitchedPtr *at, struct cudaExtent extent)
{
    CALL();
    at->pitch = (extent.width + PITCH - 1) / PITCH * PITCH;
    at->xsize = extent.width;
    at->ysize = extent.height;
    return take(STANDIN_MALLOC, at->pitch * extent.height * extent.depth, &at->ptr);
}

int cudaMallocManaged(void **at, size_t size, unsigned flags)
{
    CALL();
    (void)flags;
    return take(STANDIN_MANAGED, size, at);
}

static uint64_t element_bytes(const struct cudaChannelFormatDesc *desc)
{
    return (uint64_t)(desc->x + desc->y + desc->z + desc->w) / 8;
}

int cudaMallocArray(void **array, const struct cudaChannelFormatDesc *desc, size_t width,
                    size_t height, unsigned flags)
{
    CALL();
    (void)flags;
    return take(STANDIN_ARRAY, element_bytes(desc) * width * (height ? height : 1), array);
}

int cudaMalloc3DArray(void **array, const struct cudaChannelFormatDesc *desc, struct cudaExtent e,
                      unsigned flags)
{
    CALL();
    (void)flags;
    return take(STANDIN_ARRAY,
                element_bytes(desc) * e.width * (e.height ? e.height : 1) * (e.depth ? e.depth : 1),
                array);
}

int cudaMallocMipmappedArray(void **array, const struct cudaChannelFormatDesc *desc,
                             struct cudaExtent e, unsigned levels, unsigned flags)
{
    CALL();
    (void)flags;
    uint64_t bytes = element_bytes(desc) * e.width * (e.height ? e.height : 1) *
                     (e.depth ? e.depth : 1),
             sum = 0;
    for (unsigned i = 0; i < levels; i++)
        sum += bytes >> (2 * i);
    return take(STANDIN_ARRAY, sum, array);
}

int cudaFreeArray(void *array)
{
    CALL();
    return give(1u << STANDIN_ARRAY, array);
}

int cudaFreeMipmappedArray(void *array)
{
    CALL();
    return give(1u << STANDIN_ARRAY, array);
}

/* ---- pools: those of a device are its number, in a place of their own ----------------------- */

static char pools[STANDIN_MOST_DEVICES];

static int device_of_pool(const void *pool)
{
    uint64_t i = (uint64_t)pool - (uint64_t)pools;
    return i < STANDIN_MOST_DEVICES ? (int)i : standin_device();
}

int cudaDeviceGetDefaultMemPool(void **pool, int device)
{
    ASK();
    if (!standin_is_device(device))
        return standin_leave(STANDIN_INVALID_DEVICE);
    *pool = &pools[device];
    return 0;
}

int cudaDeviceGetMemPool(void **pool, int device)
{
    ASK();
    if (!standin_is_device(device))
        return standin_leave(STANDIN_INVALID_DEVICE);
    *pool = &pools[device];
    return 0;
}

/* 1 to 3: what may be used again; 4: the threshold; 5 to 8: reserved and used, now and at most.
 * What is freed is given back at once, so that a pool holds what is used. */
int cudaMemPoolGetAttribute(void *pool, int attribute, void *value)
{
    ASK();
    if (attribute >= 4)
        *(uint64_t *)value = standin_driver()->live(STANDIN_ASYNC, device_of_pool(pool));
    else
        *(int *)value = 1;
    return 0;
}

NOTHING(cudaMemPoolSetAttribute, void *pool, int attribute, void *value)
NOTHING(cudaMemPoolSetAccess, void *pool, const void *descriptions, size_t n)
NOTHING(cudaMemPoolTrimTo, void *pool, size_t keep)

/* The second name is for streams of the calling thread. */
#define BOTH(name, parameters, body)                                                               \
    EXPORT int name parameters                                                                     \
    {                                                                                              \
        CALL();                                                                                    \
        (void)stream;                                                                              \
        body;                                                                                      \
    }                                                                                              \
    EXPORT int name##_ptsz parameters                                                              \
    {                                                                                              \
        CALL();                                                                                    \
        (void)stream;                                                                              \
        body;                                                                                      \
    }

BOTH(cudaMallocAsync, (void **at, size_t size, void *stream), return take(STANDIN_ASYNC, size, at))
BOTH(cudaFreeAsync, (void *at, void *stream), return give(FREED, at))
BOTH(cudaMallocFromPoolAsync, (void **at, size_t size, void *pool, void *stream),
     return standin_leave(standin_driver()->take(STANDIN_ASYNC, device_of_pool(pool), size, at)))

/* ---- the host's ----------------------------------------------------------------------------- */

int cudaMallocHost(void **at, size_t size)
{
    CALL();
    return take(STANDIN_PINNED, size, at);
}

int cudaHostAlloc(void **at, size_t size, unsigned flags)
{
    CALL();
    (void)flags;
    return take(STANDIN_PINNED, size, at);
}

int cudaFreeHost(void *at)
{
    CALL();
    return give(1u << STANDIN_PINNED, at);
}

int cudaHostRegister(void *at, size_t size, unsigned flags)
{
    CALL();
    (void)flags;
    return standin_leave(standin_driver()->registers(at, size));
}

int cudaHostUnregister(void *at)
{
    CALL();
    if (!at || standin_driver()->give(1u << STANDIN_REGISTERED, at))
        return standin_leave(STANDIN_NOT_REGISTERED);
    return 0;
}

int cudaHostGetDevicePointer(void **device, void *host, unsigned flags)
{
    CALL();
    (void)flags;
    *device = host;
    return 0;
}

/* ---- another process's: a handle says how much there is, and nothing of where --------------- */

struct handle {
    uint64_t at, bytes;
    int device;
};

int cudaIpcGetMemHandle(struct cudaIpcMemHandle *handle, void *at)
{
    struct standin_block block;
    CALL();
    if (!standin_driver()->find(at, &block))
        return standin_leave(STANDIN_INVALID);
    memset(handle, 0, sizeof *handle);
    memcpy(handle, &(struct handle){block.at, block.bytes, block.device}, sizeof(struct handle));
    return 0;
}

int cudaIpcOpenMemHandle(void **at, struct cudaIpcMemHandle handle, unsigned flags)
{
    struct handle h;
    CALL();
    (void)flags;
    memcpy(&h, &handle, sizeof h);
    if (!standin_is_device(h.device))
        return standin_leave(STANDIN_INVALID);
    return standin_leave(standin_driver()->take(STANDIN_ALIAS, h.device, h.bytes, at));
}

int cudaIpcCloseMemHandle(void *at)
{
    CALL();
    return give(1u << STANDIN_ALIAS, at);
}
