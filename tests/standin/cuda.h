/* The declarations of CUDA that stand-ins and their tests need, as in the real headers, except that
 * errors are plain numbers and handles are pointers. */
#ifndef SEEP_STANDIN_CUDA_H
#define SEEP_STANDIN_CUDA_H

#include <stddef.h>
#include <stdint.h>

#pragma GCC visibility push(default)

struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};

struct cudaExtent {
    size_t width, height, depth;
};

struct cudaChannelFormatDesc {
    int x, y, z, w, f;
};

struct cudaIpcMemHandle {
    char reserved[64];
};

struct cudaPointerAttributes {
    int type, device;
    void *at, *host;
#if CUDA_MAJOR >= 13
    long reserved[8];
#endif
};

int cudaGetDeviceCount(int *count);
int cudaGetDevice(int *device);
int cudaSetDevice(int device);
int cudaDeviceReset(void);
int cudaDeviceSynchronize(void);
int cudaGetLastError(void);
int cudaPeekAtLastError(void);
const char *cudaGetErrorName(int error);
const char *cudaGetErrorString(int error);
int cudaMemGetInfo(size_t *available, size_t *total);
int cudaGetDriverEntryPoint(const char *name, void **function, unsigned long long flags,
                            int *result);
int cudaGetDriverEntryPointByVersion(const char *name, void **function, unsigned version,
                                     unsigned long long flags, int *result);

int cudaMalloc(void **at, size_t size);
int cudaMallocPitch(void **at, size_t *pitch, size_t width, size_t height);
int cudaMalloc3D(struct cudaPitchedPtr *at, struct cudaExtent extent);
int cudaMallocManaged(void **at, size_t size, unsigned flags);
int cudaFree(void *at);
int cudaMallocArray(void **array, const struct cudaChannelFormatDesc *desc, size_t width,
                    size_t height, unsigned flags);
int cudaMalloc3DArray(void **array, const struct cudaChannelFormatDesc *desc, struct cudaExtent e,
                      unsigned flags);
int cudaMallocMipmappedArray(void **array, const struct cudaChannelFormatDesc *desc,
                             struct cudaExtent e, unsigned levels, unsigned flags);
int cudaFreeArray(void *array);
int cudaFreeMipmappedArray(void *array);
int cudaDeviceGetDefaultMemPool(void **pool, int device);
int cudaDeviceGetMemPool(void **pool, int device);
int cudaMemPoolGetAttribute(void *pool, int attribute, void *value);
int cudaMallocAsync(void **at, size_t size, void *stream);
int cudaMallocAsync_ptsz(void **at, size_t size, void *stream);
int cudaMallocFromPoolAsync(void **at, size_t size, void *pool, void *stream);
int cudaMallocFromPoolAsync_ptsz(void **at, size_t size, void *pool, void *stream);
int cudaFreeAsync(void *at, void *stream);
int cudaFreeAsync_ptsz(void *at, void *stream);
int cudaMallocHost(void **at, size_t size);
int cudaHostAlloc(void **at, size_t size, unsigned flags);
int cudaFreeHost(void *at);
int cudaHostRegister(void *at, size_t size, unsigned flags);
int cudaHostUnregister(void *at);
int cudaHostGetDevicePointer(void **device, void *host, unsigned flags);
int cudaIpcGetMemHandle(struct cudaIpcMemHandle *handle, void *at);
int cudaIpcOpenMemHandle(void **at, struct cudaIpcMemHandle handle, unsigned flags);
int cudaIpcCloseMemHandle(void *at);

int cudaMemcpy(void *to, const void *from, size_t n, int kind);
int cudaMemset(void *to, int value, size_t n);
int cudaStreamCreate(void **stream);
int cudaStreamDestroy(void *stream);
int cudaStreamBeginCapture(void *stream, int mode);
int cudaStreamEndCapture(void *stream, void **graph);
int cudaStreamIsCapturing(void *stream, int *status);

/* ---- the driver ----------------------------------------------------------------------------- */

struct CUmemLocation {
    int type, id; /* 1: a device */
};

struct CUmemAllocationProp {
    int type, handle_types;
    struct CUmemLocation location;
    void *win32;
    unsigned char flags[8];
};

struct CUmemAccessDesc {
    struct CUmemLocation location;
    int flags;
};

int cuInit(unsigned flags);
int cuMemAddressReserve(uint64_t *at, size_t size, size_t alignment, uint64_t address,
                        unsigned long long flags);
int cuMemAddressFree(uint64_t at, size_t size);
int cuMemCreate(uint64_t *handle, size_t size, const struct CUmemAllocationProp *prop,
                unsigned long long flags);
int cuMemRelease(uint64_t handle);
int cuMemMap(uint64_t at, size_t size, size_t offset, uint64_t handle, unsigned long long flags);
int cuMemUnmap(uint64_t at, size_t size);
int cuMemSetAccess(uint64_t at, size_t size, const struct CUmemAccessDesc *desc, size_t n);
int cuGetProcAddress(const char *name, void **function, int version, uint64_t flags);
int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                        int *result);

/* ---- NVML ----------------------------------------------------------------------------------- */

struct nvmlMemory {
    unsigned long long total, available, used;
};

/* Of _v2 and _v3; the first version had no instances. */
struct nvmlProcessInfo {
    unsigned pid;
    unsigned long long used;
    unsigned gpu_instance, compute_instance;
};

struct nvmlProcessInfo_v1 {
    unsigned pid;
    unsigned long long used;
};

int nvmlInit_v2(void);
int nvmlSystemGetCudaDriverVersion_v2(int *version);
int nvmlDeviceGetNvLinkRemoteDeviceType(void *device, unsigned link, int *type);
int nvmlDeviceGetNvLinkRemotePciInfo_v2(void *device, unsigned link, void *info);
int nvmlDeviceGetGpuFabricInfoV(void *device, void *info);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *bus, void **device);
int nvmlDeviceGetHandleByUUID(const char *uuid, void **device);
int nvmlDeviceGetIndex(void *device, unsigned *index);
int nvmlDeviceGetUUID(void *device, char *uuid, unsigned length);
int nvmlDeviceGetMemoryInfo(void *device, struct nvmlMemory *memory);
int nvmlDeviceGetComputeRunningProcesses(void *device, unsigned *count,
                                         struct nvmlProcessInfo_v1 *infos);
int nvmlDeviceGetComputeRunningProcesses_v2(void *device, unsigned *count,
                                            struct nvmlProcessInfo *infos);
int nvmlDeviceGetComputeRunningProcesses_v3(void *device, unsigned *count,
                                            struct nvmlProcessInfo *infos);

#pragma GCC visibility pop

#endif
