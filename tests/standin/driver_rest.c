/* The rest of the driver: devices, contexts, and many functions that only have to exist. */
#include <stddef.h>
#include <string.h>

#include "tests/standin/cuda.h"
#include "tests/standin/driver.h"

enum { GRANULARITY = 2 << 20, NOT_SUPPORTED = 801 };

static char contexts[STANDIN_MOST_DEVICES], handles[4096];
static _Thread_local void *current;

EXPORT int cuGetErrorString(int error, const char **text)
{
    *text = error == STANDIN_NO_MEMORY ? "out of memory" : "an error of the stand-in";
    return 0;
}

EXPORT int cuGetErrorName(int error, const char **text)
{
    *text = error == STANDIN_NO_MEMORY ? "CUDA_ERROR_OUT_OF_MEMORY" : "CUDA_ERROR";
    return 0;
}

EXPORT int cuDriverGetVersion(int *version)
{
    DRIVER_CALL();
    *version = 13030;
    return 0;
}

EXPORT int cuDeviceGet(int *device, int number)
{
    DRIVER_CALL();
    *device = number;
    return number < standin_devices() ? 0 : STANDIN_INVALID_DEVICE;
}

EXPORT int cuDeviceGetCount(int *count)
{
    DRIVER_CALL();
    *count = standin_devices();
    return 0;
}

EXPORT int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    DRIVER_CALL();
    (void)device;
    *value = attribute == 75 ? 8 : attribute == 76 ? 0 : 1;
    return 0;
}

/* What a machine has and this one lacks: fabric, multicast, green contexts. */
#define LACKING(name, ...)                                                                         \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)                                                                   \
    {                                                                                              \
        DRIVER_CALL();                                                                             \
        return NOT_SUPPORTED;                                                                      \
    }

#define DONE(name, ...)                                                                            \
    EXPORT int name(__VA_ARGS__);                                                                  \
    EXPORT int name(__VA_ARGS__)                                                                   \
    {                                                                                              \
        DRIVER_CALL();                                                                             \
        return 0;                                                                                  \
    }

#define GIVES(name, ...)                                                                           \
    EXPORT int name(void **handle, ##__VA_ARGS__);                                                 \
    EXPORT int name(void **handle, ##__VA_ARGS__)                                                  \
    {                                                                                              \
        DRIVER_CALL();                                                                             \
        *handle = handles;                                                                         \
        return 0;                                                                                  \
    }

EXPORT int cuDeviceGetUuid(char *uuid, int device)
{
    DRIVER_CALL();
    memset(uuid, 0, 16);
    uuid[3] = (char)device;
    return 0;
}

/* ---- contexts ------------------------------------------------------------------------------- */

EXPORT int cuDevicePrimaryCtxGetState(int device, unsigned *flags, int *active)
{
    DRIVER_CALL();
    *flags = 0;
    *active = standin_has_context(device);
    return 0;
}

EXPORT int cuDevicePrimaryCtxRetain(void **context, int device)
{
    DRIVER_CALL();
    standin_context(device);
    *context = &contexts[device];
    return 0;
}

/* Of a thread that set none itself it is that of the runtime's device. */
EXPORT int cuCtxGetCurrent(void **context)
{
    DRIVER_CALL();
    int device = *standin_core()->device();
    *context = current ? current : standin_has_context(device) ? &contexts[device] : NULL;
    return 0;
}

EXPORT int cuCtxSetCurrent(void *context)
{
    DRIVER_CALL();
    current = context;
    standin_note("device");
    return 0;
}

DONE(cuCtxPushCurrent_v2, void *context)
GIVES(cuCtxPopCurrent_v2)
GIVES(cuStreamGetCtx, void *stream)

/* ---- memory --------------------------------------------------------------------------------- */

EXPORT int cuMemGetAllocationGranularity(size_t *bytes, const struct CUmemAllocationProp *prop,
                                         int option)
{
    DRIVER_CALL();
    (void)prop, (void)option;
    *bytes = GRANULARITY;
    return 0;
}

EXPORT int cuMemGetAddressRange_v2(uint64_t *base, size_t *bytes, uint64_t at)
{
    struct standin_block block;
    DRIVER_CALL();
    if (!standin_find((void *)at, &block))
        return STANDIN_INVALID;
    if (base)
        *base = block.at;
    if (bytes)
        *bytes = block.bytes;
    return 0;
}

static int take(enum standin_kind kind, size_t bytes, void **at)
{
    return bytes ? standin_take(kind, *standin_core()->device(), bytes, at) : STANDIN_INVALID;
}

EXPORT int cuMemAlloc_v2(void **at, size_t bytes)
{
    DRIVER_CALL();
    return take(STANDIN_MALLOC, bytes, at);
}

EXPORT int cuMemAllocManaged(void **at, size_t bytes, unsigned flags)
{
    DRIVER_CALL();
    (void)flags;
    return take(STANDIN_MANAGED, bytes, at);
}

EXPORT int cuMemFree_v2(void *at)
{
    DRIVER_CALL();
    return standin_give(1u << STANDIN_MALLOC | 1u << STANDIN_MANAGED | 1u << STANDIN_ASYNC, at);
}

EXPORT int cuMemHostAlloc(void **at, size_t bytes, unsigned flags)
{
    DRIVER_CALL();
    (void)flags;
    return take(STANDIN_PINNED, bytes, at);
}

EXPORT int cuMemFreeHost(void *at)
{
    DRIVER_CALL();
    return standin_give(1u << STANDIN_PINNED, at);
}

DONE(cuPointerGetAttribute, void *data, int attribute, uint64_t at)
LACKING(cuMemRetainAllocationHandle, uint64_t *handle, void *at)
LACKING(cuMemExportToShareableHandle, void *shared, uint64_t handle, int type,
        unsigned long long flags)
LACKING(cuMemImportFromShareableHandle, uint64_t *handle, void *shared, int type)
LACKING(cuMemGetAllocationPropertiesFromHandle, void *prop, uint64_t handle)
LACKING(cuMulticastAddDevice, uint64_t handle, int device)
LACKING(cuMulticastBindMem, uint64_t handle, size_t a, uint64_t memory, size_t b, size_t n,
        unsigned long long flags)
LACKING(cuMulticastCreate, uint64_t *handle, const void *prop)
LACKING(cuMulticastUnbind, uint64_t handle, int device, size_t a, size_t n)
DONE(cuMemsetD32Async, uint64_t at, unsigned value, size_t n, void *stream)
DONE(cuStreamWriteValue32, void *stream, uint64_t at, unsigned value, unsigned flags)
DONE(cuStreamWriteValue32_v2, void *stream, uint64_t at, unsigned value, unsigned flags)

/* ---- code ----------------------------------------------------------------------------------- */

GIVES(cuModuleLoad, const char *file)
GIVES(cuModuleLoadData, const void *image)
GIVES(cuModuleLoadDataEx, const void *image, unsigned n, int *options, void **values)
GIVES(cuModuleGetFunction, void *module, const char *name)
GIVES(cuLinkCreate_v2, unsigned n, int *options, void **values)
DONE(cuModuleUnload, void *module)
DONE(cuLinkAddData_v2, void *state)
DONE(cuLinkComplete, void *state)
DONE(cuLaunchKernel, void *function)
DONE(cuLaunchCooperativeKernel, void *function)
DONE(cuFuncGetAttribute, int *value, int attribute, void *function)
DONE(cuFuncSetAttribute, void *function, int attribute, int value)
DONE(cuFuncSetCacheConfig, void *function, int config)
DONE(cuOccupancyMaxActiveBlocksPerMultiprocessor, int *n, void *function, int threads,
     size_t shared)
DONE(cuTensorMapEncodeTiled, void *map)
DONE(cuLogsRegisterCallback, void *callback, void *data, void *handle)
DONE(cuLogsUnregisterCallback, void *handle)
LACKING(cuCtxFromGreenCtx, void **context, void *green)
LACKING(cuDevResourceGenerateDesc, void **desc, void *resources, unsigned n)
LACKING(cuDevSmResourceSplitByCount, void *result, unsigned *n)
LACKING(cuDeviceGetDevResource, int device, void *resource, int type)
LACKING(cuGreenCtxCreate, void **green, void *desc, int device, unsigned flags)
LACKING(cuGreenCtxDestroy, void *green)
LACKING(cuGreenCtxStreamCreate, void **stream, void *green, unsigned flags, int priority)
