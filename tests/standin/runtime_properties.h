/* What the runtime reports of a device. CUDA 12 keeps room at its end; CUDA 13 dropped eight
 * fields. */
#ifndef SEEP_STANDIN_PROPERTIES_H
#define SEEP_STANDIN_PROPERTIES_H

#include <stddef.h>

#if CUDA_MAJOR < 13
#define UNTIL_12(field) int field;
#else
#define UNTIL_12(field)
#endif

struct cudaDeviceProp {
    char name[256], uuid[16], luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    UNTIL_12(clockRate)
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    UNTIL_12(deviceOverlap)
    int multiProcessorCount;
    UNTIL_12(kernelExecTimeoutEnabled)
    int integrated, canMapHostMemory;
    UNTIL_12(computeMode)
    int maxTexture1D, maxTexture1DMipmap;
    UNTIL_12(maxTexture1DLinear)
    int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
    int maxTexture3D[3], maxTexture3DAlt[3], maxTextureCubemap, maxTexture1DLayered[2];
    int maxTexture2DLayered[3], maxTextureCubemapLayered[2];
    int maxSurface1D, maxSurface2D[2], maxSurface3D[3], maxSurface1DLayered[2];
    int maxSurface2DLayered[3], maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID, tccDriver;
    int asyncEngineCount, unifiedAddressing;
    UNTIL_12(memoryClockRate)
    int memoryBusWidth, l2CacheSize, persistingL2CacheMaxSize, maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor, managedMemory, isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    UNTIL_12(singleToDoublePrecisionPerfRatio)
    int pageableMemoryAccess, concurrentManagedAccess, computePreemptionSupported;
    int canUseHostPointerForRegisteredMem, cooperativeLaunch;
    UNTIL_12(cooperativeMultiDeviceLaunch)
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables, directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor, accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
#if CUDA_MAJOR > 11
    int rest[74];
#endif
};

#endif
