/* What the runtime reports of devices: two identical ones of compute capability 8.0. */
#include <stdio.h>
#include <string.h>

#include "tests/standin/cuda.h"
#include "tests/standin/runtime.h"
#include "tests/standin/runtime_properties.h"

enum {
    THREADS = 1024,
    SHARED = 48 << 10,
    SHARED_MOST = 163 << 10,
    PROCESSORS = 16,
    REGISTERS = 65536
};

static int properties_of(struct cudaDeviceProp *p, int device)
{
    if (!standin_is_device(device))
        return standin_leave(STANDIN_INVALID_DEVICE);
    memset(p, 0, sizeof *p);
    snprintf(p->name, sizeof p->name, "stand-in");
    p->uuid[3] = (char)device;
    p->totalGlobalMem = standin_driver()->capacity();
    p->sharedMemPerBlock = SHARED;
    p->sharedMemPerBlockOptin = SHARED_MOST;
    p->sharedMemPerMultiprocessor = SHARED_MOST + 1024;
    p->regsPerBlock = p->regsPerMultiprocessor = REGISTERS;
    p->warpSize = 32;
    p->memPitch = 0x7fffffff;
    p->maxThreadsPerBlock = p->maxThreadsDim[0] = p->maxThreadsDim[1] = THREADS;
    p->maxThreadsDim[2] = 64;
    p->maxGridSize[0] = 0x7fffffff;
    p->maxGridSize[1] = p->maxGridSize[2] = 65535;
    p->totalConstMem = 65536;
    p->major = 8;
    p->textureAlignment = 512;
    p->multiProcessorCount = PROCESSORS;
    p->maxThreadsPerMultiProcessor = 2 * THREADS;
    p->maxBlocksPerMultiProcessor = 32;
    p->l2CacheSize = 1 << 20;
    p->pciBusID = device + 1;
    p->concurrentKernels = p->unifiedAddressing = p->managedMemory = p->canMapHostMemory = 1;
    p->cooperativeLaunch = 1;
    return 0;
}

#if CUDA_MAJOR == 12
EXPORT int cudaGetDeviceProperties_v2(struct cudaDeviceProp *p, int device)
#else
EXPORT int cudaGetDeviceProperties(struct cudaDeviceProp *p, int device)
#endif
{
    ASK();
    return properties_of(p, device);
}

/* By number, as cudaDeviceAttr has them; all others are 1. */
EXPORT int cudaDeviceGetAttribute(int *value, int attribute, int device)
{
    static const struct {
        int attribute, value;
    } known[] = {{1, THREADS},      {2, THREADS},      {3, THREADS},     {4, 64},
                 {5, 0x7fffffff},   {6, 65535},        {7, 65535},       {8, SHARED},
                 {9, 65536},        {10, 32},          {11, 0x7fffffff}, {12, REGISTERS},
                 {16, PROCESSORS},  {18, 0},           {20, 0},          {32, 0},
                 {39, 2 * THREADS}, {75, 8},           {76, 0},          {81, SHARED_MOST + 1024},
                 {82, REGISTERS},   {97, SHARED_MOST}, {106, 32},        {116, 0},
                 {124, 0},          {128, 0},          {132, 0}};
    ASK();
    if (!standin_is_device(device))
        return standin_leave(STANDIN_INVALID_DEVICE);
    *value = 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (known[i].attribute == attribute)
            *value = known[i].value;
    return 0;
}

EXPORT int cudaDeviceCanAccessPeer(int *can, int device, int peer)
{
    ASK();
    *can = device != peer;
    return 0;
}

EXPORT int cudaDeviceGetPCIBusId(char *text, int length, int device)
{
    ASK();
    snprintf(text, (size_t)length, "0000:%02x:00.0", device + 1);
    return 0;
}

EXPORT int cudaDeviceGetStreamPriorityRange(int *least, int *greatest)
{
    CALL();
    *least = 0;
    *greatest = -5;
    return 0;
}

EXPORT int cudaDriverGetVersion(int *version)
{
    ASK();
    *version = 13030;
    return 0;
}

EXPORT int cudaRuntimeGetVersion(int *version)
{
    ASK();
    *version = CUDA_MAJOR == 12 ? 12010 : 1000 * CUDA_MAJOR;
    return 0;
}

NOTHING(cudaDeviceDisablePeerAccess, int peer)
NOTHING(cudaDeviceEnablePeerAccess, int peer, unsigned flags)
NOTHING(cudaDeviceGetGraphMemAttribute, int device, int attribute, void *value)
NOTHING(cudaDeviceSetGraphMemAttribute, int device, int attribute, void *value)
NOTHING(cudaDeviceGetByPCIBusId, int *device, const char *id)
NOTHING(cudaDeviceSetLimit, int limit, size_t value)
NOTHING(cudaProfilerInitialize, const char *settings, const char *output, int mode)
NOTHING(cudaProfilerStart, void)
NOTHING(cudaProfilerStop, void)
